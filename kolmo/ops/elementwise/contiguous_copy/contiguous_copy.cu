#include "kolmo/base/quotient.hpp"
#include "kolmo/ops/elementwise/contiguous_copy/copy_items.hpp"
#include "kolmo/skeleton/each_item.cuh"

namespace kolmo {
namespace {
using A = ContiguousCopyArgs;

enum class Way : std::uint8_t { items, tiles };
constexpr Row<Way> rows[] = {{"element by element", Way::items}, {"tiles in shared memory", Way::tiles}};

constexpr int block = 256;

template <class T>
__global__ void __launch_bounds__(block)
    copy_turned(cuda::EarlyStart early, const T* x, T* y, Turn t, std::int64_t tiles) {
  __shared__ T part[Turn::tile / 2 * 3];
  constexpr int each = Turn::tile / block;
  early.wait();
  const int padded = t.tile_near | 1, elements = t.tile_near * t.tile_last;
  for (std::int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
    const std::int64_t row = quotient(i, t.wide), first_last = (i - row * t.wide) * t.tile_last,
                       entry = quotient(row, t.high), first_near = (row - entry * t.high) * t.tile_near;
    std::int64_t at[2];
    t.outer.at(entry, at);
    const T* const from = x + at[0] + first_last * t.last_in_x + first_near;
    T* const to = y + at[1] + first_near * t.near_in_y + first_last;
    // Elements of the tile that exist.
    const int near = int(t.near - first_near < t.tile_near ? t.near - first_near : t.tile_near),
              last = int(t.last - first_last < t.tile_last ? t.last - first_last : t.tile_last);
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
      if (l < last && n < near) taken[k] = from[l * t.last_in_x + n];
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
      if (l < last && n < near) to[n * t.near_in_y + l] = part[l * padded + n];
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
      cuda::launch_early(copy_turned<T>, cuda::blocks(turn.tiles(), 1), block, 0, cuda::native(s), f.x, f.y,
                         turn, turn.tiles());
    } else {
      cuda::launch_early(cuda::do_items<block, CopyItem<T>, T>, cuda::blocks(f.n, block), block, 0,
                         cuda::native(s), f, static_cast<T*>(nullptr), f.n);
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
