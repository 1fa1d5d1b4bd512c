#include "kolmo/base/quotient.hpp"
#include "kolmo/device/async.cuh"
#include "kolmo/ops/elementwise/contiguous_copy/copy_items.hpp"
#include "kolmo/skeleton/each_item.cuh"

namespace kolmo {
namespace {
using A = ContiguousCopyArgs;

enum class Way : std::uint8_t { items, tiles };
constexpr Row<Way> rows[] = {{"element by element", Way::items}, {"tiles in shared memory", Way::tiles}};

constexpr int block = 256;

/// e / extent for a quotient below 2^16, by a product with the inverse.
__device__ int share(int e, int extent, std::uint32_t inverse) {
  return extent == 1 ? e : int(__umulhi(unsigned(e), inverse));
}

/// Whether elements have a size that asynchronous copies bring to shared memory without using registers.
template <class T>
constexpr bool by_copies = sizeof(T) == 4 || sizeof(T) == 8;

/// Copies tiles of a transposition through shared memory.
template <class T>
__global__ void __launch_bounds__(block, by_copies<T> ? 6 : 4)
    copy_turned(cuda::EarlyStart early, const T* x, T* y, Turn t) {
  __shared__ T part[Turn::tile(sizeof(T)) / 2 * 3];
  constexpr int each = Turn::tile(sizeof(T)) / block;
  const int last_in_x = int(t.last_in_x), near_in_y = int(t.near_in_y), padded = t.tile_near | 1;
  const std::int64_t i = blockIdx.x, row = quotient(i, t.wide), first_last = (i - row * t.wide) * t.tile_last,
                     entry = quotient(row, t.high), first_near = (row - entry * t.high) * t.tile_near;
  std::int64_t at[2];
  t.outer.at(entry, at);
  const T* const from = x + at[0] + first_last * t.last_in_x + first_near;
  T* const to = y + at[1] + first_near * t.near_in_y + first_last;
  // How many elements the tile has in each direction; fewer at the edges.
  const int near = int(t.near - first_near < t.tile_near ? t.near - first_near : t.tile_near),
            last = int(t.last - first_last < t.tile_last ? t.last - first_last : t.tile_last);
  const auto element = [](int k) { return int(threadIdx.x) + k * block; };
  const auto take = [&](const auto& f) {
#pragma unroll
    for (int k = 0; k < each; ++k) {
      const int l = share(element(k), t.tile_near, t.inverse_near), n = element(k) - l * t.tile_near;
      // Beyond the edge, the first element is read instead: without a branch, all reads are in flight at
      // once.
      f(k, from + (l < last && n < near ? l * last_in_x + n : 0), part + l * padded + n);
    }
  };
  early.wait();
  if constexpr (by_copies<T>) {
    take([](int, const T* x, T* of_part) { cuda::copy_async(of_part, x, true); });
    cuda::commit_copies();
    cuda::wait_copies<0>();
  } else {
    T taken[each] = {};
    take([&](int k, const T* x, T*) { taken[k] = *x; });
    take([&](int k, const T*, T* of_part) { *of_part = taken[k]; });
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < each; ++k) {
    const int n = share(element(k), t.tile_last, t.inverse_last), l = element(k) - n * t.tile_last;
    if (l < last && n < near) to[n * near_in_y + l] = part[l * padded + n];
  }
}

Turn turn_of(const A& a) { return Turn(CopyItem<std::uint8_t>(a).walk, size_of(a.x.dtype)); }

void launch(const A& a, Arena, Stream& s, int row) {
  CopyItems::visit_type(a, [&]<class T> {
    const CopyItem<T> f(a);
    if (rows[row].config == Way::tiles) {
      const Turn turn(f.walk, sizeof(T));
      cuda::launch_early(copy_turned<T>, unsigned(turn.tiles()), block, 0, cuda::native(s), f.x, f.y, turn);
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
