#include <algorithm>

#include "kolmo/base/permutation.hpp"
#include "kolmo/base/psi_sum.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/device/ksg.cuh"
#include "kolmo/knn/arena.hpp"
#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

using Args = KsgConditionalMutualInformationArgs;
using cuda::KsgPlan;

// Row 0 gives each lane of a warp one estimate of the same point: loads are whole lines, and the walk is
// shared. Row 1 gives each thread one point of the same estimate, for the single large estimate.
constexpr Variant variants[] = {{"lanes are estimates"}, {"lanes are points"}};
constexpr int block = 128, points_per_warp = 8;
constexpr std::int64_t fewest_lanes = 8;
constexpr double lane_memory = 512e6;  // bytes of rearranged x at a time

int columns(const Tensor& t) { return t.given() ? int(t.extent[std::size_t(t.rank - 1)]) : 0; }

template <class T>
std::int64_t lanes_at_once(const Args& a, int variant) {
  const std::int64_t unit = variant == 0 ? 32 : 1, most = 65535 * unit;  // rows of the launch grid
  const std::int64_t all = (a.x.extent[0] * (1 + a.surrogates) + unit - 1) / unit * unit;
  const double each = double(a.y.extent[0]) * double(columns(a.x)) * sizeof(T);
  const std::int64_t room = std::max(unit, std::int64_t(lane_memory / each) / unit * unit);
  return std::min({all, most, room});
}

/// Places everything; without memory it only counts.
template <class T>
KsgPlan<T> make_plan(const Args& a, int variant, knn::Arena& arena) {
  const auto n = std::size_t(a.y.extent[0]);
  KsgPlan<T> p{};
  p.n = a.y.extent[0], p.b = a.x.extent[0], p.e = 1 + a.surrogates;
  p.t = int(a.segments.given() ? a.segments.extent[0] - 1 : 1);
  p.dx = columns(a.x), p.dy = columns(a.y), p.dz = columns(a.z), p.k = int(a.k), p.theiler = a.theiler;
  p.first_kind = a.algorithm == KsgAlgorithm::ksg1;
  p.segments = a.segments.as<std::int64_t>(), p.set = a.set.as<std::int32_t>();
  p.streams = a.streams.as<std::int64_t>(), p.seed = a.seed, p.block_length = a.block_length;
  p.surrogate_type = a.surrogate_type;
  p.source_x = a.x.as<T>(), p.source_y = a.y.as<T>(), p.source_z = a.z.as<T>();
  p.value = a.value.as<double>(), p.local = a.local.as<double>();
  const auto lanes = std::size_t(lanes_at_once<T>(a, variant));
  p.row = arena.take<std::uint32_t>(n), p.at = arena.take<std::uint32_t>(n);
  p.yz = arena.take<T>(n * std::size_t(p.dy + p.dz));
  p.x = arena.take<T>(n * std::size_t(p.dx) * lanes);
  p.sorted_x = p.dz == 0 && p.dx == 1 ? arena.take<T>(n * std::size_t(p.b)) : nullptr;
  p.terms = arena.take<PsiTerm>(n + 1);
  p.sums = arena.take<PsiSum>(std::size_t(p.t) * std::size_t(p.b * p.e));
  p.constants = arena.take<double>(std::size_t(p.t));
  const bool by_estimate = variant == 0;
  p.lane_step = by_estimate ? 1 : p.n, p.row_step = by_estimate ? std::int64_t(lanes) : 1;
  p.column_step = p.n * std::int64_t(lanes);
  return p;
}

template <int K, int D, bool ByEstimate, class T>
__global__ void __launch_bounds__(block, K > 16 ? 2 : 4) estimate(KsgPlan<T> p) {
  const std::int64_t per_warp = ByEstimate ? points_per_warp : 32;
  const std::int64_t first = (std::int64_t(blockIdx.x) * block + threadIdx.x) / 32 * per_warp;
  const std::int64_t lane = threadIdx.x % 32;
  cuda::ksg_points<K, D, ByEstimate>(p, first, lane, per_warp, std::int64_t(blockIdx.y));
}

template <int K, int D, class T>
void launch_estimate(const KsgPlan<T>& p, int variant, cudaStream_t s) {
  const std::int64_t warps_per_block = block / 32;
  if (variant == 0) {
    const dim3 grid(cuda::blocks(p.n, points_per_warp * warps_per_block, 1u << 31),
                    unsigned((p.lanes + 31) / 32));
    cuda::launch(estimate<K, D, true, T>, grid, block, 0, s, p);
  } else {
    const dim3 grid(cuda::blocks(p.n, block, 1u << 31), unsigned(p.lanes));
    cuda::launch(estimate<K, D, false, T>, grid, block, 0, s, p);
  }
}

template <class T>
void launch_all(const Args& a, void* workspace, Stream& stream, int variant) {
  constexpr int threads = 256;
  const auto s = cuda::native(stream);
  knn::Arena arena(workspace);
  KsgPlan<T> p = make_plan<T>(a, variant, arena);
  cuda::launch(cuda::ksg_prepare<T>, cuda::blocks(p.n + 1, threads), threads, 0, s, p);
  cuda::launch(cuda::ksg_order<T>, cuda::blocks(p.n, threads), threads, 0, s, p);
  if (p.sorted_x) cuda::launch(cuda::ksg_sort_x<T>, cuda::blocks(p.n * p.b, threads), threads, 0, s, p);
  const std::int64_t all = p.b * p.e, at_once = lanes_at_once<T>(a, variant);
  for (p.first_lane = 0; p.first_lane < all; p.first_lane += p.lanes) {
    p.lanes = std::min(at_once, all - p.first_lane);
    cuda::launch(cuda::ksg_fill<T>, dim3(cuda::blocks(p.n, threads), cuda::blocks(p.lanes, 1, 65535)),
                 threads, 0, s, p);
    const int kind = p.dx == 1 && p.dy == 1 && p.dz <= 1 ? 1 : 0;
    if (p.k <= 4 && kind && p.dz == 1)
      launch_estimate<4, 111>(p, variant, s);
    else if (p.k <= 4 && kind)
      launch_estimate<4, 110>(p, variant, s);
    else if (p.k <= 4)
      launch_estimate<4, 0>(p, variant, s);
    else if (p.k <= 16)
      launch_estimate<16, 0>(p, variant, s);
    else
      launch_estimate<64, 0>(p, variant, s);
  }
  cuda::launch(cuda::ksg_finish<T>, cuda::blocks(all * p.t, threads), threads, 0, s, p);
}

void launch(const Args& a, void* workspace, Stream& s, int variant) {
  visit<double, float>(a.x.dtype, [&]<class T> { launch_all<T>(a, workspace, s, variant); });
}

std::size_t workspace(const Args& a, int variant) {
  knn::Arena arena;
  visit<double, float>(a.x.dtype, [&]<class T> { make_plan<T>(a, variant, arena); });
  return arena.used();
}

bool fits(const Args& a, int variant) {
  return variant == 1 || a.x.extent[0] * (1 + a.surrogates) >= fewest_lanes;
}

}  // namespace

extern constinit const CudaImpl ksg_conditional_mutual_information_cuda =
    cuda_impl<Args, launch, workspace, fits>(variants);

}  // namespace kolmo
