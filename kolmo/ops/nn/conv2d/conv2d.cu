#include <iterator>

#include "kolmo/op/impl.hpp"
#include "kolmo/ops/nn/conv2d/conv2d_tensor_cores.cuh"
#include "kolmo/ops/nn/conv2d/conv2d_tiles.cuh"

namespace kolmo {
namespace {
using A = Conv2dArgs;

/// The row of the table of tile shapes; on tensor cores there is one shape.
constexpr int tensor_cores = -1;
constexpr Row<int> plans[] = {{"tensor wmma 64x64", tensor_cores},
                              {"f32 tiles 64x64", 0},
                              {"f32 tiles 128x64", 1},
                              {"f64 tiles 64x64", 2}};

/// Bytes of the elements that a plan is for.
constexpr std::size_t plan_size(int row) {
  return plans[row].config == tensor_cores ? 2 : plans[row].config == 2 ? 8 : 4;
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
    cuda::launch(conv_tiles<T, Nhwc, V>, cuda::blocks(tiles, 1), shape.threads(), 0, cuda::native(s), c,
                 tiles);
  });
}

void launch(const A& a, Arena arena, Stream& s, int row) {
  if (a.y.size() == 0) return;
  const Conv2dSizes sizes(a);
  ConvTerm* const terms = take_terms(arena, a);
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    const ConvProblem<T> c(a, terms);
    cuda::launch(list_terms, cuda::blocks(c.terms, 256), 256, 0, cuda::native(s), terms, c.terms, c.depth,
                 int(sizes.rows.kernel), int(sizes.columns.kernel), int(sizes.rows.dilation),
                 int(sizes.columns.dilation), c.plane(), c.row_size, c.column_size, c.nhwc);
    cuda::select<int(std::size(plans))>(row, [&]<int V> {
      if constexpr (sizeof(T) == plan_size(V)) {
        if constexpr (plans[V].config == tensor_cores)
          launch_tensor_cores<T>(a, c, s);
        else
          launch_tiles<T, plans[V].config>(a, c, s);
      }
    });
  });
}

bool fits(const A& a, int row) { return size_of(a.x.dtype) == plan_size(row); }

/// Higher tiles if they are mostly full, and enough for an H200.
int preferred(const A& a) {
  const Conv2dSizes s(a);
  const std::int64_t full = (s.group_outputs() + 127) / 128 * 128;
  return full * 3 <= s.group_outputs() * 4 && tiles_of(s, 128, 64) >= 264 ? 2 : -1;
}

}  // namespace

extern constinit const Impl<A> conv2d_cuda{
    {.rows = plans,
     .launch = launch,
     .lay = [](Arena& arena, const A& a, const Site&) { take_terms(arena, a); },
     .fits = fits,
     .preferred = preferred}};

}  // namespace kolmo
