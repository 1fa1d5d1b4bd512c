#pragma once
// Few long rows of a row operator (skeleton/row_op.hpp) by one grid whose blocks run at once. Each reads its items, parts of rows
// in their order, and waits for the others; then it joins the parts of its rows and writes the results of its items. Most of what
// it has read stays in shared memory and registers, the rest in the second cache. A thread joins its own elements item by item, so
// that warps wait for each other once a row only. Anonymous namespace: see device/grid.cuh.
#include <algorithm>

#include "kolmo/base/quotient.hpp"
#include "kolmo/device/async.cuh"
#include "kolmo/device/row_tile.cuh"
#include "kolmo/device/together.cuh"
#include "kolmo/skeleton/row_op.hpp"

namespace kolmo::cuda {
namespace {

/// Blocks of a multiprocessor, the shared memory of each, and how much of it copies are ahead of what is computed. On an
/// H200 a block of 256 has 16 items of a row of 2^24 floats, of which 7 fit into shared memory.
constexpr int held_residents = 2, held_bytes = 112 * 1024, held_ahead = 48 * 1024;
template <class Op>
concept ReadsColumns = requires {
  requires Op::reads_columns;
};
/// Items of a block in registers, as many as fit.
template <class Op, class T>
constexpr int held_in_registers = sizeof(T) == 8     ? 1
                                  : ReadsColumns<Op> ? 3
                                                     : 4;
/// Items of a block for which a grid that waits for itself is worth its start, and up to which it holds enough of them. A
/// thread adds them one after the other.
constexpr std::int64_t held_from = 2, held_to = 32;
constexpr int rows_of_block = 2;

/// The items of this block, parts of `length` elements of at most two rows.
struct HeldItems {
  int k, items, parts, first;  ///< of a row; of all blocks; of a row; the first row of this block
  int length, count, of_first,
      before;  ///< of an item; of items, of those of the first row, and of this row before them

  __device__ HeldItems(int rows, int k_, int parts_, int length_)
      : k(k_), items(rows * parts_), parts(parts_), length(length_) {
    const auto from = [&](unsigned block) { return int(quotient(std::int64_t(items) * block, gridDim.x)); };
    const int begin = from(blockIdx.x);
    count = from(blockIdx.x + 1) - begin;
    first = begin / parts, before = begin - first * parts;
    of_first = parts - before < count ? parts - before : count;
  }
  struct Place {
    int row;  ///< 0 or 1: the first, or the one after it
    std::int64_t at;
    int from, count;
  };
  /// Where item i begins in the tensors and in its row, and its number of elements.
  __device__ Place operator()(int i) const {
    const int row = i >= of_first, from = (row ? i - of_first : i + before) * length;
    const int rest = k - from;
    return {row, std::int64_t(first + row) * k + from, from, rest < length ? rest : length};
  }
  /// Where a block keeps its part of a row: those of a row are neighbours.
  __device__ int part_of(int block, int row) const { return block + row; }
  __device__ int block_of(int item) const {
    return int(quotient((std::int64_t(item) + 1) * gridDim.x - 1, items));
  }
};

/// Finds what every element needs to know of its row, for the rows of a block's items.
template <int Block, class Op>
__device__ void join_held(const Op& op, const HeldItems& items, const typename Op::Part* part,
                          typename Op::Whole (&of_row)[rows_of_block]) {
  for (int r = 0; r < (items.of_first < items.count ? 2 : 1); ++r) {
    const int row = items.first + r, from = items.block_of(row * items.parts),
              to = items.block_of((row + 1) * items.parts - 1);
    const auto all = join_parts<Block>(part + items.part_of(from, row), to + 1 - from);
    if (threadIdx.x != 0) continue;
    const auto whole = op.whole(all);
    of_row[r] = whole;
    if (from == int(blockIdx.x)) op.keep(row, whole);
  }
  __syncthreads();
}

/// Item i is copied to slot i of shared memory; from `slots` on, to the last `ahead` slots in turn, which at the end have the last
/// items. Of the others, which have no slot then, registers keep the first. The rest is read again, by the slots whose results
/// are written: what was read last comes first.
template <class Op, class T, int Block, int E>
__global__ void __launch_bounds__(Block, held_residents)
    rows_held(Op op, RowTensors<T> t, typename Op::Part* part, int parts) {
  constexpr int W = pack_width<T>, step = Block * W, length = Block * E, bytes = length * int(sizeof(T)),
                slots = held_bytes / bytes, ahead = held_ahead / bytes, fixed = slots - ahead,
                most_kept = held_in_registers<Op, T>;
  using Tile = RowTile<T, 1, W, E>;
  using Packs = typename Tile::Packs;
  using Bytes = Pack<T, W>;
  static_assert(fixed > 0);
  const HeldItems items(int(t.rows), int(t.k), parts, length);
  const int n = items.count, start = int(threadIdx.x) * W;
  T* const mine = dynamic_shared<T>() + start;  // each thread copies what it reads itself
  const auto slot = [&](int i) { return mine + (i < slots ? i : fixed + (i - fixed) % ahead) * length; };
  // f(elements of this thread): a constant in all items but the last of a row.
  const auto with_own = [&](int count, const auto& f) {
    if (count == length)
      f(E);
    else
      f((count - start + step - 1) / step * W);
  };
  const auto copy = [&](int i, T* to) {
    if (i < n) {
      const auto item = items(i);
      const T* const from = t.x + item.at;
      with_own(item.count, [&](int own) {
#pragma unroll
        for (int p = 0; p < E / W; ++p) {
          const bool there = p * W < own;
          copy_async(reinterpret_cast<Bytes*>(to + p * step),
                     reinterpret_cast<const Bytes*>(there ? from + start + p * step : from), there);
        }
      });
    }
    commit_copies();
  };
  const auto read = [&](const T* from) {
    Packs packs;
#pragma unroll
    for (int p = 0; p < E / W; ++p) packs.pack[p] = load_pack<W>(from + p * step);
    return packs;
  };

  for (int i = 0; i < slots; ++i) copy(i, slot(i));
  Packs kept[most_kept] = {};
  typename Op::Part all{};
  for (int i = 0; i < n; ++i) {
    if (i < slots)
      wait_copies<slots - 1>();
    else
      wait_copies<ahead - 1>();
    const Packs packs = read(slot(i));
#pragma unroll
    for (int r = 0; r < most_kept; ++r)
      if (i == fixed + r) kept[r] = packs;
    const auto item = items(i);
    with_own(item.count, [&](int own) {
      Tile tile(packs, own, 0);
      all = join(all, op.part(tile));
    });
    copy(i < fixed ? n : i + ahead, slot(i + ahead));
    if (i + 1 != items.of_first && i + 1 != n) continue;
    all = join_block<Block>(all);
    if (threadIdx.x == 0) part[items.part_of(int(blockIdx.x), items.first + item.row)] = all;
    all = {};
  }
  wait_copies<0>();
  meet_grid();

  __shared__ typename Op::Whole of_row[rows_of_block];
  join_held<Block>(op, items, part, of_row);
  // In turn those in slots, first the fixed ones; those in registers; the rest.
  const int of_slots = n < slots ? n : slots, others = n - of_slots,
            in_registers = others < most_kept ? others : most_kept;
  const auto in_slot = [&](int s) { return s < fixed ? s : n - of_slots + s; };
  const auto again = [&](int s) { return n - ahead - 1 - s; };
  for (int turn = 0; turn < n; ++turn) {
    const int r = turn - of_slots;
    const bool of_registers = r >= 0 && r < in_registers;
    const int s = r < 0 ? turn : turn - in_registers;
    T* const from = slot(in_slot(s < slots ? s : s % slots));
    Packs packs;
    if (of_registers) {
#pragma unroll
      for (int k = 0; k < most_kept; ++k)
        if (k == r) packs = kept[k];
    } else {
      if (r >= 0) wait_copies<slots - 1>();
      packs = read(from);
    }
    const auto item = items(of_registers ? fixed + r : s < of_slots ? in_slot(s) : again(s - of_slots));
    const auto whole = of_row[item.row];
    T* const to = t.y + item.at;
#pragma unroll
    for (int p = 0; p < E / W; ++p) {
      const int place = start + p * step;
      const bool there = place < item.count;
      const auto wide = widened(packs.pack[p]);
      const auto result =
          narrowed<T, W>(op.template results<W, false>(wide.value, item.from + (there ? place : 0), whole));
      if (there) write_once(to + place, result);
    }
    if (!of_registers) copy(s < others - in_registers ? again(s) : n, from);
  }
  wait_copies<0>();
}

/// Writes the results of few rows, if as many blocks as are needed run at once on the device.
template <class Op, class T, int Block, int E>
bool hold_rows(const Op& op, const RowTensors<T>& t, typename Op::Part* part, std::int64_t parts, int device,
               cudaStream_t stream) {
  constexpr auto kernel = rows_held<Op, T, Block, E>;
  static const std::int64_t blocks = blocks_together(device, kernel, Block, held_bytes);
  const std::int64_t items = t.rows * parts;
  if (!blocks || items < held_from * blocks || items > held_to * blocks) return false;
  const bool fit = t.rows <= rows_of_block || (items + blocks - 1) / blocks <= parts + 1;
  if (fit) launch_together(kernel, unsigned(blocks), Block, held_bytes, stream, op, t, part, int(parts));
  return fit;
}

}  // namespace
}  // namespace kolmo::cuda
