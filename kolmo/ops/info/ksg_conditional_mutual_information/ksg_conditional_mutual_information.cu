#include <algorithm>
#include <limits>

#include "kolmo/device/f64_ratio.cuh"
#include "kolmo/knn/ksg_lists.cuh"
#include "kolmo/knn/list_length.hpp"
#include "kolmo/knn/listed.hpp"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/info/ksg_conditional_mutual_information/trees.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

using Args = KsgConditionalMutualInformationArgs;
using cuda::KsgPlan;
using cuda::NeighbourList;

// Variant 0 lists each point's neighbours in (y, z) once, and each lane of a warp computes one estimate of
// the point. It serves many estimates of the same y and z. In variant 1 a warp computes one point of one
// estimate. In variant 2 a warp searches trees for 32 points of one estimate. Variant 3 does so by images of f64 data in
// f32, for GPUs whose f64 is slow.
constexpr Row<NoConfig> variants[] = {
    {"neighbour lists, lanes are estimates"}, {"lanes are neighbours"}, {"trees"}, {"trees of f32 images"}};
constexpr int listed = 0, by_trees = 2, by_images = 3, block = cuda::ksg_block;
constexpr int most_columns = 3;                  // of x
constexpr double lane_memory[] = {32e6, 512e6};  // bytes of rearranged x at a time

template <class T>
std::int64_t lanes_at_once(const Args& a, int variant) {
  const std::int64_t unit = variant == listed ? 32 : 1, most = 65535 * unit;  // rows of the launch grid
  const std::int64_t all = (a.x.extent[0] * (1 + a.surrogates) + unit - 1) / unit * unit;
  const double each = double(a.y.extent[0]) * double(columns_of(a.x)) * sizeof(T);
  const std::int64_t room = std::max(unit, std::int64_t(lane_memory[variant] / each) / unit * unit);
  return std::min({all, most, room});
}

/// Lays out the workspace. An arena without memory only counts its bytes.
template <class T>
KsgPlan<T> make_plan(const Args& a, int variant, Arena& arena) {
  const auto n = std::size_t(a.y.extent[0]);
  KsgPlan<T> p = plan_of<T>(a, arena);
  const bool lists = variant == listed, sorted_x = lists || (p.dz == 0 && p.dx == 1);
  const std::size_t lanes = std::size_t(lanes_at_once<T>(a, variant)), x_columns = std::size_t(p.b * p.dx);
  p.sort.arrays = sorted_x ? 1 + p.b * p.dx : 1;
  for (int i = 0; i < 2; ++i) {
    p.sort.key[i] = arena.take<T>(n * std::size_t(p.sort.arrays));
    p.sort.row[i] = arena.take<std::uint32_t>(n * std::size_t(p.sort.arrays));
  }
  p.at = arena.take<std::uint32_t>(n);
  p.yz = arena.take<T>(n * std::size_t(p.dy + p.dz));
  p.x = arena.take<T>(n * std::size_t(p.dx) * lanes);
  p.row_step = lists ? 32 : 1, p.column_step = p.n * p.row_step;
  if (!lists) return p;
  p.place_step = (p.n + 7) / 8 * 256;
  p.place = arena.take<std::uint16_t>(n * x_columns);
  p.lane_place = arena.take<std::uint16_t>(std::size_t(p.place_step * p.dx) * (lanes + 31) / 32);
  for (NeighbourList<T>* list : {&p.near_yz, &p.near_z}) {
    const bool in_z = list == &p.near_z;
    if (in_z && p.dz < 2) continue;
    const std::int64_t most = in_z ? cuda::list_most<true> : cuda::list_most<false>;
    const std::int64_t usual = (in_z ? 4 : 2) * knn::list_length(p.n, p.k);
    const std::int64_t cap = p.n <= cuda::list_most<false> ? p.n : std::min({p.n, most, usual});
    *list = {.distance = arena.take<T>(n * std::size_t(cap)),
             .reach = arena.take<T>(n),
             .point = arena.take<std::uint32_t>(n * std::size_t(cap)),
             .length = arena.take<std::uint32_t>(n),
             .cap = cap};
  }
  p.open = arena.take<cuda::OpenPoint<T>>(n * lanes), p.open_count = arena.take<unsigned long long>(1);
  return p;
}

template <int K, int D, class T>
void launch_points(const KsgPlan<T>& p, cudaStream_t s) {
  // With this many points for each warp, there are enough warps to fill a device, and few additions to
  // memory.
  const int each = int(std::clamp<std::int64_t>(p.n * p.lanes / 65536, 1, 8));
  const dim3 grid(cuda::blocks((p.n + each - 1) / each, block / 32, 1u << 31), unsigned(p.lanes));
  cuda::launch(cuda::ksg_points<K, D, T>, grid, block, 0, s, p, each);
}

template <int K, int X, bool OneZ, class T>
void launch_listed(const KsgPlan<T>& p, cudaStream_t s) {
  const std::int64_t groups = (p.lanes + 31) / 32;
  const int each = p.n * groups < 16384 ? 1 : 2;
  const dim3 grid(cuda::blocks((p.n + each - 1) / each, cuda::listed_block / 32, 1u << 31), unsigned(groups));
  cuda::launch(cuda::ksg_listed<K, X, OneZ, T>, grid, cuda::listed_block, 0, s, p, each);
  cuda::launch(cuda::ksg_open<K, T>, 2048, block, 0, s, p);
}

template <class T>
void launch_estimates(const KsgPlan<T>& p, int variant, cudaStream_t s) {
  const bool few = p.k <= 4, single = p.dx == 1 && p.dy == 1;
  if (variant == listed) {
    if (few && p.dx == 1)
      return p.dz == 1 ? launch_listed<4, 1, true>(p, s) : launch_listed<4, 1, false>(p, s);
    return few ? launch_listed<4, most_columns, false>(p, s) : launch_listed<16, most_columns, false>(p, s);
  }
  if (few && single && p.dz == 1) return launch_points<4, 111>(p, s);
  if (few && single && p.dz == 0) return launch_points<4, 110>(p, s);
  if (few) return launch_points<4, 0>(p, s);
  return p.k <= 16 ? launch_points<16, 0>(p, s) : launch_points<64, 0>(p, s);
}

/// Adds the terms of all estimates by walks along the key or through lists.
template <class T>
void launch_walks(const Args& a, KsgPlan<T>& p, int variant, cudaStream_t s) {
  if (variant == listed)
    cuda::launch(cuda::ksg_list<false, T>, cuda::blocks(p.n, 1), cuda::list_block, 0, s, p);
  if (variant == listed && p.dz > 1)
    cuda::launch(cuda::ksg_list<true, T>, cuda::blocks(p.n, 1), cuda::list_block, 0, s, p);
  const std::int64_t all = p.b * p.e, at_once = lanes_at_once<T>(a, variant);
  for (p.first_lane = 0; p.first_lane < all; p.first_lane += p.lanes) {
    p.lanes = std::min(at_once, all - p.first_lane);
    if (variant == listed) {
      const std::int64_t warps = (p.n + cuda::fill_rows - 1) / cuda::fill_rows * ((p.lanes + 31) / 32);
      cuda::launch(cuda::ksg_fill_lists<T>, cuda::blocks(warps * 32, threads, 1u << 31), threads, 0, s, p);
    } else {
      cuda::launch(cuda::ksg_fill<T>, dim3(cuda::blocks(p.n, threads), cuda::blocks(p.lanes, 1, 65535)),
                   threads, 0, s, p);
    }
    launch_estimates(p, variant, s);
  }
}

template <class T>
void launch_trees(const Args& a, Arena arena, Stream& s, int variant) {
  if constexpr (std::is_same_v<T, double>)
    if (variant == by_images) return on_cuda::launch_trees<T, float>(a, arena, s);
  on_cuda::launch_trees<T, T>(a, arena, s);
}
template <class T>
void lay_trees(Arena& arena, const Args& a, int variant) {
  if constexpr (std::is_same_v<T, double>)
    if (variant == by_images) return on_cuda::lay_trees<T, float>(a, arena);
  on_cuda::lay_trees<T, T>(a, arena);
}

template <class T>
void launch_all(const Args& a, Arena arena, Stream& stream, int variant) {
  const auto s = cuda::native(stream);
  Arena rest = arena;  // the trees lay out the same plan again, and what follows it
  KsgPlan<T> p = variant >= by_trees ? plan_of<T>(a, rest) : make_plan<T>(a, variant, rest);
  p.status = stream.status();
  if (a.segments.given())
    cuda::launch(cuda::ksg_check_segments<T>, 1, threads, 0, s, p, a.segments.as<std::int64_t>());
  const unsigned over_columns = cuda::blocks(p.n * std::max<std::int64_t>(p.sort.arrays, 1) + 1, threads);
  cuda::launch(cuda::ksg_prepare<T>, over_columns, threads, 0, s, p);
  if (variant < by_trees) cuda::sort_rows(p.sort, s);
  cuda::launch(cuda::ksg_gather<T>, over_columns, threads, 0, s, p);
  if (variant >= by_trees)
    launch_trees<T>(a, arena, stream, variant);
  else
    launch_walks(a, p, variant, s);
  cuda::launch(cuda::ksg_finish<T>, cuda::blocks(p.b * p.e * p.t, threads), threads, 0, s, p);
}

void launch(const Args& a, Arena scratch, Stream& s, int variant) {
  visit<double, float>(a.x.dtype, [&]<class T> { launch_all<T>(a, scratch, s, variant); });
}

void lay(Arena& arena, const Args& a, const Site& site) {
  visit<double, float>(a.x.dtype, [&]<class T> {
    if (site.row >= by_trees)
      lay_trees<T>(arena, a, site.row);
    else
      make_plan<T>(a, site.row, arena);
  });
}

/// The most rows of a problem without a condition for the variant with lists. With more rows the lists are
/// often too short, and the other variant is faster.
constexpr std::int64_t most_listed_pairs = 10000;

bool fits(const Args& a, int variant) {
  const std::int64_t n = a.y.extent[0], problems = a.segments.given() ? a.segments.extent[0] - 1 : 1;
  if (variant == by_trees) return trees_fit(a);
  if (variant == by_images) return a.x.dtype == DType::f64 && trees_fit(a);
  if (variant != listed) return true;
  if (n * (1 + a.x.extent[0] * columns_of(a.x)) > std::numeric_limits<std::uint32_t>::max()) return false;
  if (!a.z.given() && (columns_of(a.x) > 1 || n > most_listed_pairs * problems)) return false;
  return a.algorithm == KsgAlgorithm::ksg1 && a.k <= 16 && n <= knn::most_listed_rows &&
         columns_of(a.x) <= most_columns &&
         a.x.extent[0] * (1 + a.surrogates) >= knn::fewest_listed_estimates;
}

/// Images are used on GPUs on which f64 is slower than on those for data centres.
int preferred(const Args& a) {
  const double slow = a.x.dtype == DType::f64 ? std::max(1.0, cuda::f64_ratio(a.x.device.index) / 2.0) : 1;
  if (!trees_pay(a, fits(a, listed), slow)) return -1;
  return slow > 1 ? by_images : by_trees;
}

}  // namespace

extern constinit const Impl<Args> ksg_conditional_mutual_information_cuda{
    {.rows = variants, .launch = launch, .lay = lay, .fits = fits, .preferred = preferred}};

}  // namespace kolmo
