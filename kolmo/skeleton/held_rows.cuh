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

/// Threads of a block, the only one of a multiprocessor, and its shared memory. On an H200 a block has 16 items of a row of 2^24
/// floats, of which 7 fit into shared memory and 4 into registers.
constexpr int held_block = 512, held_bytes = 224 * 1024;
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
__device__ void join_held(const Op& op, const HeldItems& items, const Word* part,
                          typename Op::Whole (&of_row)[rows_of_block]) {
  using Part = typename Op::Part;
  for (int r = 0; r < (items.of_first < items.count ? 2 : 1); ++r) {
    const int row = items.first + r, from = items.block_of(row * items.parts),
              count = items.block_of((row + 1) * items.parts - 1) + 1 - from;
    const Word* const first = part + items.part_of(from, row) * words_of<Part>;
    const int share = (count + Block - 1) / Block, begin = int(threadIdx.x) * share;
    Part all{};
    for (int p = begin; p < begin + share && p < count; ++p)
      all = join(all, take_part<Part>(first + p * words_of<Part>));
    all = join_block<Block>(all);
    if (threadIdx.x != 0) continue;
    const auto whole = op.whole(all);
    of_row[r] = whole;
    if (from == int(blockIdx.x)) op.keep(row, whole);
  }
  __syncthreads();
}

/// Items are copied to slots of shared memory in turn. At the end these have the last items, and registers those before; only the
/// second cache may still hold the first ones, the rest. They are read again by the slots whose results are written, and the cache
/// is asked to give up all else before them.
template <class Op, class T, int Block, int E>
__global__ void __launch_bounds__(Block, 1) rows_held(Op op, RowTensors<T> t, Word* part, int parts) {
  using Part = typename Op::Part;
  constexpr int W = pack_width<T>, step = Block * W, length = Block * E, bytes = length * int(sizeof(T)),
                slots = held_bytes / bytes, most_kept = held_in_registers<Op, T>;
  using Tile = RowTile<T, 1, W, E>;
  using Packs = typename Tile::Packs;
  using Bytes = Pack<T, W>;
  const HeldItems items(int(t.rows), int(t.k), parts, length);
  const int n = items.count, of_slots = n < slots ? n : slots, others = n - of_slots,
            in_registers = others < most_kept ? others : most_kept, rest = others - in_registers;
  const int start = int(threadIdx.x) * W;
  T* const mine = dynamic_shared<T>() + start;  // each thread copies what it reads itself
  const auto slot = [&](int i) { return mine + i % slots * length; };
  const auto own_of = [&](int count) { return count == length ? E : (count - start + step - 1) / step * W; };
  const CachePolicy once = cache_policy(Keep::once), again = cache_policy(Keep::again);
  const auto copy = [&](int i, T* to) {
    if (i < n) {
      const auto item = items(i);
      const T* const from = t.x + item.at;
      const CachePolicy policy = i < rest ? again : once;
      const int own = own_of(item.count);
#pragma unroll
      for (int p = 0; p < E / W; ++p) {
        const bool there = p * W < own;
        copy_async(reinterpret_cast<Bytes*>(to + p * step),
                   reinterpret_cast<const Bytes*>(there ? from + start + p * step : from), there, policy);
      }
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
  const auto place_of = [&](int row) {
    return part + items.part_of(int(blockIdx.x), items.first + row) * words_of<Part>;
  };
  if (threadIdx.x < rows_of_block && (threadIdx.x == 0 || items.of_first < n))
    empty_part<Part>(place_of(int(threadIdx.x)));
  meet_grid();  // while copies are under way
  Packs kept[most_kept];
  Part all{}, first{};
  const auto add = [&](int i) {
    wait_copies<slots - 1>();
    const Packs packs = read(slot(i));
    Tile tile(packs, own_of(items(i).count), 0);
    all = join(all, op.part(tile));
    copy(i + slots, slot(i));
    if (i + 1 == items.of_first) first = all, all = {};
    return packs;
  };
#pragma unroll 1
  for (int i = 0; i < rest; ++i) add(i);
#pragma unroll
  for (int r = 0; r < most_kept; ++r)
    if (r < in_registers) kept[r] = add(rest + r);
#pragma unroll 1
  for (int i = others; i < n; ++i) add(i);
  wait_copies<0>();
#pragma unroll 1
  for (int row = 0; row < (items.of_first < n ? 2 : 1); ++row) {
    const Part of_block = join_block<Block>(row ? all : first);
    if (threadIdx.x == 0) leave_part(place_of(row), of_block);
  }
  __syncthreads();

  __shared__ typename Op::Whole of_row[rows_of_block];
  join_held<Block>(op, items, part, of_row);
  const auto write = [&](int i, const Packs& packs) {
    const auto item = items(i);
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
  };
#pragma unroll 1
  for (int s = 0; s < of_slots; ++s) {
    const int i = others + s;
    write(i, read(slot(i)));
    copy(s < rest ? s : n, slot(i));
  }
#pragma unroll
  for (int r = 0; r < most_kept; ++r)
    if (r < in_registers) write(rest + r, kept[r]);
#pragma unroll 1
  for (int i = 0; i < rest; ++i) {
    T* const from = slot(others + of_slots + i);
    wait_copies<slots - 1>();
    write(i, read(from));
    copy(i + of_slots < rest ? i + of_slots : n, from);
  }
  wait_copies<0>();
}

/// Writes the results of few rows, if as many blocks as are needed run at once on the device. `part` has place for `places` parts.
template <class Op, class T, int E>
bool hold_rows(const Op& op, const RowTensors<T>& t, typename Op::Part* part, std::int64_t places, int device,
               cudaStream_t stream) {
  constexpr auto kernel = rows_held<Op, T, held_block, E>;
  static const std::int64_t blocks = blocks_together(device, kernel, held_block, held_bytes);
  constexpr std::int64_t length = held_block * E;
  const std::int64_t parts = (t.k + length - 1) / length, items = t.rows * parts;
  if (!blocks || items < held_from * blocks || items > held_to * blocks) return false;
  const bool fit = (t.rows <= rows_of_block || (items + blocks - 1) / blocks <= parts + 1) &&
                   bytes_of_parts<typename Op::Part>(blocks + t.rows) <= places * std::int64_t(sizeof(*part));
  if (fit)
    launch_together(kernel, unsigned(blocks), held_block, held_bytes, stream, op, t,
                    reinterpret_cast<Word*>(part), int(parts));
  return fit;
}

}  // namespace
}  // namespace kolmo::cuda
