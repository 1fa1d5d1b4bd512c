#include <iterator>

#include "kolmo/device/multiprocessors.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/nn/conv2d/conv2d_depthwise.cuh"
#include "kolmo/ops/nn/conv2d/conv2d_direct.cuh"
#include "kolmo/ops/nn/conv2d/conv2d_tensor_cores.cuh"
#include "kolmo/ops/nn/conv2d/conv2d_tiles.cuh"
#ifndef SIMT
#include "kolmo/ops/nn/conv2d/conv2d_warpgroups.cuh"
#endif

namespace kolmo {
namespace {
using A = Conv2dArgs;

enum class Engine : std::uint8_t { warpgroups, tensor_cores, tiles, direct };

/// The configuration of a variant: an engine, and the index in its table of shapes.
struct Plan {
  Engine engine;
  int shape = 0;
};
constexpr Row<Plan> plans[] = {
    {.name = "tensor wgmma 256x128", .config = {Engine::warpgroups, 3}, .hardware_only = true},
    {.name = "tensor wgmma 256x64", .config = {Engine::warpgroups, 4}, .hardware_only = true},
    {"tensor wmma 64x64", {Engine::tensor_cores}},
    {"f32 tiles 64x64", {Engine::tiles, 0}},
    {"f32 tiles 64x128", {Engine::tiles, 1}},
    {"f32 tiles 64x192", {Engine::tiles, 2}},
    {"f64 tiles 64x64", {Engine::tiles, 3}},
    {"direct", {Engine::direct}}};
constexpr int direct = int(std::size(plans)) - 1;

/// Size in bytes of the elements that a plan of tiles serves.
constexpr std::size_t plan_size(const Plan& p) {
  return p.engine != Engine::tiles ? 2 : p.shape == 3 ? 8 : 4;
}

ConvTerm* take_terms(Arena& arena, const A& a) { return arena.take<ConvTerm>(Conv2dSizes(a).terms()); }

std::int64_t tiles_of(const Conv2dSizes& s, int rows, int columns) {
  return s.groups * ((s.group_outputs() + rows - 1) / rows) *
         ((s.images * s.pixels() + columns - 1) / columns);
}

/// Calls f.operator()<nhwc>().
template <class F>
void with_layout(bool nhwc, F&& f) {
  cuda::select<2>(nhwc, [&]<int I> { f.template operator()<I == 1>(); });
}

template <class T>
void launch_tensor_cores(const A& a, const ConvProblem<T>& c, Stream& s) {
  const std::int64_t tiles = tiles_of(Conv2dSizes(a), conv_warp_side, conv_warp_side);
  const auto aligned = [](const Tensor& t) { return reinterpret_cast<std::uintptr_t>(t.data) % 16 == 0; };
  const bool packs = c.nhwc && c.depth % 8 == 0 && aligned(a.x) && aligned(a.weight);
  with_layout(c.nhwc, [&]<bool Nhwc> {
    cuda::launch(conv_warps<T, Nhwc>, cuda::blocks(tiles, 1), conv_warp_threads, 0, cuda::native(s), c, tiles,
                 packs);
  });
}

template <class T, int V>
void launch_tiles(const A& a, const ConvProblem<T>& c, Stream& s) {
  constexpr ConvTileShape shape = conv_tile_shapes[V];
  const std::int64_t tiles = tiles_of(Conv2dSizes(a), shape.rows, shape.columns);
  with_layout(c.nhwc, [&]<bool Nhwc> {
    cuda::launch_early(conv_tiles<T, Nhwc, V>, cuda::blocks(tiles, 1), shape.threads(), 0, cuda::native(s), c,
                       tiles);
  });
}

void launch_direct(const A& a, Stream& s) {
  const Conv2dSizes sizes(a);
  const ConvStrips strips(sizes);
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    if (DepthwisePlan<T>::fits(a)) return launch_depthwise<T>(a, s);
    with_layout(sizes.nhwc, [&]<bool Nhwc> {
      const std::int64_t bytes = a.weight.size() * std::int64_t(sizeof(Compute<T>));
      const bool shared = Nhwc && bytes <= conv_shared_kernels;
      cuda::launch_early(conv_direct<T, Nhwc>,
                         cuda::blocks(strips.count, conv_direct_block, shared ? 1024 : 1 << 20),
                         conv_direct_block, shared ? std::size_t(bytes) : 0, cuda::native(s),
                         ConvProblem<T>(a, nullptr), strips, shared);
    });
  });
}

void launch(const A& a, Arena arena, Stream& s, int row) {
  if (a.y.size() == 0) return;
  if (row == direct) return launch_direct(a, s);
#ifndef SIMT
  if (const Plan& plan = plans[row].config; plan.engine == Engine::warpgroups) {
    visit<Half, BFloat16>(a.x.dtype, [&]<class T> {
      if (plan.shape == 3)
        launch_conv_warpgroups<T, 3>(a, s);
      else
        launch_conv_warpgroups<T, 4>(a, s);
    });
    return;
  }
#endif
  const Conv2dSizes sizes(a);
  ConvTerm* const terms = take_terms(arena, a);
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    const ConvProblem<T> c(a, terms);
    cuda::launch_early(list_terms, cuda::blocks(c.terms, 256), 256, 0, cuda::native(s), terms, c.terms,
                       c.depth, int(sizes.rows.kernel), int(sizes.columns.kernel), int(sizes.rows.dilation),
                       int(sizes.columns.dilation), c.plane(), c.row_size, c.column_size, c.nhwc);
    cuda::select<int(std::size(plans))>(row, [&]<int V> {
      constexpr Plan plan = plans[V].config;
      if constexpr (sizeof(T) == plan_size(plan)) {
        if constexpr (plan.engine == Engine::tensor_cores)
          launch_tensor_cores<T>(a, c, s);
        else if constexpr (plan.engine == Engine::tiles)
          launch_tiles<T, plan.shape>(a, c, s);
      }
    });
  });
}

bool fits(const A& a, int row) {
  const Plan& plan = plans[row].config;
  if (plan.engine == Engine::direct) return true;
#ifdef SIMT
  if (plan.engine == Engine::warpgroups) return false;
#else
  if (plan.engine == Engine::warpgroups) return conv_warpgroups_fit(a);
#endif
  return size_of(a.x.dtype) == plan_size(plan);
}

/// Chooses a variant. Groups that would fill less than a quarter of a tile's channels (a sixteenth, with
/// tensor cores) are computed directly, without tiles. Small tiles are taken if there are few of them with
/// few terms each. Wide tiles, with many pixels, are taken if there are two for each multiprocessor and few of
/// their channels are empty.
int preferred(const A& a) {
  const Conv2dSizes s(a);
  const int multiprocessors = cuda::multiprocessors(a.y.device.index);
  if (s.groups > 1 && s.group_outputs() < (size_of(a.x.dtype) == 2 ? 4 : 16)) return direct;
  if (size_of(a.x.dtype) == 2) {
    const bool few = s.terms() <= 128 && tiles_of(s, 128, 256) * 4 <= multiprocessors;
    return few ? 2 : s.outputs <= 64 ? 1 : 0;
  }
  const bool full = (s.group_outputs() + 63) / 64 * 64 * 3 <= s.group_outputs() * 4;
  return full && tiles_of(s, 64, 192) >= 2 * multiprocessors ? 5 : -1;
}

}  // namespace

extern constinit const Impl<A> conv2d_cuda{
    {.rows = plans,
     .launch = launch,
     .lay = [](Arena& arena, const A& a, const Site&) { take_terms(arena, a); },
     .fits = fits,
     .preferred = preferred}};

}  // namespace kolmo
