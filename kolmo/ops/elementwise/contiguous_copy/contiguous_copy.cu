#include <algorithm>

#include "kolmo/base/quotient.hpp"
#include "kolmo/ops/elementwise/contiguous_copy/copy_items.hpp"
#include "kolmo/skeleton/each_item.cuh"

namespace kolmo {
namespace {
using A = ContiguousCopyArgs;

enum class Way : std::uint8_t { items, tiles };
constexpr Row<Way> rows[] = {{"element by element", Way::items}, {"tiles in shared memory", Way::tiles}};

/// A transposition: x goes on by 1 along a dimension other than the last. A tile of it and of the last
/// dimension is read along the former and written along the latter. `outer` walks over the other dimensions,
/// in x and in y.
struct Turn {
  bool found = false;
  std::int64_t near = 1, last = 1, near_in_y = 0, last_in_x = 0, outer_size = 1, high = 1, wide = 1;
  int tile_near = 1, tile_last = 1;
  int inverse_near = 0, inverse_last = 0;  ///< 2^20 / extent of a tile, rounded up
  Walk<2> outer;
  static constexpr int tile = 1024;

  explicit Turn(const Walk<1>& w) {
    int d = 0;
    while (d < w.rank && w.step[0][d] != 1) ++d;
    found = d < w.rank - 1;
    if (!found) return;
    std::int64_t in_y[max_rank], step = 1;
    for (int i = w.rank - 1; i >= 0; --i) in_y[i] = step, step *= w.extent[i];
    near = w.extent[d], near_in_y = in_y[d];
    last = w.extent[w.rank - 1], last_in_x = w.step[0][w.rank - 1];
    for (int i = 0; i < w.rank - 1; ++i) {
      if (i == d) continue;
      outer.extent[outer.rank] = w.extent[i], outer_size *= w.extent[i];
      outer.step[0][outer.rank] = w.step[0][i], outer.step[1][outer.rank++] = in_y[i];
    }
    tile_near = int(std::min<std::int64_t>(near, 32));
    tile_last = tile / tile_near;
    high = (near + tile_near - 1) / tile_near, wide = (last + tile_last - 1) / tile_last;
    inverse_near = ((1 << 20) + tile_near - 1) / tile_near,
    inverse_last = ((1 << 20) + tile_last - 1) / tile_last;
  }
  std::int64_t tiles() const { return outer_size * high * wide; }
};

constexpr int block = 256;

template <class T>
__global__ void __launch_bounds__(block) copy_turned(const T* x, T* y, Turn t, std::int64_t tiles) {
  __shared__ T part[Turn::tile / 2 * 3];
  constexpr int each = Turn::tile / block;
  const int padded = t.tile_near | 1, elements = t.tile_near * t.tile_last;
  for (std::int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
    const std::int64_t row = quotient(i, t.wide), first_last = (i - row * t.wide) * t.tile_last,
                       entry = quotient(row, t.high), first_near = (row - entry * t.high) * t.tile_near;
    std::int64_t at[2];
    t.outer.at(entry, at);
    T taken[each] = {};
    // e < 2^10 and extents of at most 2^10, so that e inverse >> 20 is the quotient.
    const auto near_of = [&](int e, int& l) {
      l = e * t.inverse_near >> 20;
      return e - l * t.tile_near;
    };
#pragma unroll
    for (int k = 0; k < each; ++k) {
      const int e = int(threadIdx.x) + k * block;
      int l;
      const int n = near_of(e, l);
      if (e < elements && first_last + l < t.last && first_near + n < t.near)
        taken[k] = x[at[0] + (first_last + l) * t.last_in_x + first_near + n];
    }
#pragma unroll
    for (int k = 0; k < each; ++k) {
      const int e = int(threadIdx.x) + k * block;
      int l;
      const int n = near_of(e, l);
      if (e < elements) part[l * padded + n] = taken[k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < each; ++k) {
      const int e = int(threadIdx.x) + k * block, n = e * t.inverse_last >> 20, l = e - n * t.tile_last;
      if (e < elements && first_last + l < t.last && first_near + n < t.near)
        y[at[1] + (first_near + n) * t.near_in_y + first_last + l] = part[l * padded + n];
    }
    __syncthreads();
  }
}

Turn turn_of(const A& a) { return Turn(CopyItem<std::uint8_t>(a).walk); }

void launch(const A& a, Arena, Stream& s, int row) {
  CopyItems::visit_type(a, [&]<class T> {
    const CopyItem<T> f(a);
    if (rows[row].config == Way::tiles) {
      const Turn turn(f.walk);
      cuda::launch(copy_turned<T>, cuda::blocks(turn.tiles(), 1), block, 0, cuda::native(s), f.x, f.y, turn,
                   turn.tiles());
    } else {
      cuda::launch(cuda::do_items<block, CopyItem<T>, T>, cuda::blocks(f.n, block), block, 0, cuda::native(s),
                   f, static_cast<T*>(nullptr), f.n);
    }
  });
}

}  // namespace

extern constinit const Impl<A> contiguous_copy_cuda{
    {.rows = rows,
     .launch = launch,
     .fits = [](const A& a, int row) { return rows[row].config == Way::items || turn_of(a).found; },
     .preferred = [](const A& a) { return turn_of(a).found ? 1 : 0; }}};

}  // namespace kolmo
