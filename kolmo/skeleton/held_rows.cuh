#pragma once
// Few long rows of a row operator (skeleton/row_op.hpp) by one grid whose blocks run at once. Each reads its items, parts of rows
// in their order, and waits for the others; then it joins the parts of its rows and writes the results of its items. Most of what
// it has read stays in shared memory and registers, the rest in the second cache. Anonymous namespace: see device/grid.cuh.
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
/// Items of a block in registers, which are also those that it reads ahead of what it writes.
constexpr int held_in_registers = 3;
/// Parts of a row that each block joins by itself.
constexpr std::int64_t held_parts = 1 << 13;
constexpr int rows_of_block = 2;

/// The items of this block, parts of `length` elements of at most two rows.
template <class T>
struct HeldItems {
  RowTensors<T> t;
  std::int64_t parts, begin, first;  ///< of a row; the first item, and its row
  int length, count, of_first;       ///< of an item; of items, and of those of the first row

  __device__ HeldItems(const RowTensors<T>& tensors, std::int64_t parts_, int length_)
      : t(tensors), parts(parts_), length(length_) {
    const std::int64_t items = t.rows * parts;
    begin = quotient(items * blockIdx.x, gridDim.x), first = quotient(begin, parts);
    count = int(quotient(items * (blockIdx.x + 1), gridDim.x) - begin);
    const std::int64_t rest = (first + 1) * parts - begin;
    of_first = rest < count ? int(rest) : count;
  }
  struct Place {
    int row;  ///< 0 or 1: the first, or the one after it
    std::int64_t at, from;
    int count;
  };
  /// Where item i begins in the tensors and in its row, and its number of elements.
  __device__ Place operator()(int i) const {
    const int row = i >= of_first;
    const std::int64_t from = (begin + i - (first + row) * parts) * length, rest = t.k - from;
    return {row, (first + row) * t.k + from, from, int(rest < length ? rest : length)};
  }
};

/// Finds what every element needs to know of its row, for the rows of a block's items.
template <int Block, class Op, class T>
__device__ void join_held(const Op& op, const HeldItems<T>& items, const typename Op::Part* part,
                          typename Op::Whole (&of_row)[rows_of_block]) {
  for (int r = 0; r < (items.of_first < items.count ? 2 : 1); ++r) {
    const std::int64_t row = items.first + r;
    const auto all = join_parts<Block>(part + row * items.parts, items.parts);
    if (threadIdx.x != 0) continue;
    const auto whole = op.whole(all);
    of_row[r] = whole;
    if (row * items.parts >= items.begin) op.keep(row, whole);
  }
  __syncthreads();
}

/// Item i is copied to slot i of shared memory; from `slots` on, to the last `ahead` slots in turn, which at the end have the last
/// items. Of the others, which have no slot then, registers keep the first, and the rest is read again: it was read last.
template <class Op, class T, int Block, int E>
__global__ void __launch_bounds__(Block, held_residents)
    rows_held(Op op, RowTensors<T> t, typename Op::Part* part, std::int64_t parts) {
  constexpr int W = pack_width<T>, length = Block * E, bytes = length * int(sizeof(T)),
                slots = held_bytes / bytes, ahead = held_ahead / bytes, fixed = slots - ahead;
  using Tile = RowTile<T, Block, W, E>;
  using Packs = typename Tile::Packs;
  static_assert(fixed > 0);
  T* const shared = dynamic_shared<T>();
  const HeldItems<T> items(t, parts, length);
  const int thread = int(threadIdx.x), n = items.count;
  const auto slot = [&](int i) { return shared + (i < slots ? i : fixed + (i - fixed) % ahead) * length; };
  const auto copy = [&](int i) {  // each thread copies what it reads itself
    if (i < n) {
      const auto item = items(i);
      const int count = item.count;
      T* const to = slot(i);
      const T* const from = t.x + item.at;
#pragma unroll
      for (int p = 0; p < E / W; ++p) {
        const int place = Tile::place(p, thread);
        using Bytes = Pack<T, W>;
        copy_async(reinterpret_cast<Bytes*>(to + place),
                   reinterpret_cast<const Bytes*>(from + (place < count ? place : 0)), place < count);
      }
    }
    commit_copies();
  };

  for (int i = 0; i < slots; ++i) copy(i);
  Packs kept[held_in_registers] = {};
  for (int i = 0; i < n; ++i) {
    if (i < slots)
      wait_copies<slots - 1>();
    else
      wait_copies<ahead - 1>();
    const Packs packs = Tile::read(slot(i), length, thread);
#pragma unroll
    for (int r = 0; r < held_in_registers; ++r)
      if (i == fixed + r) kept[r] = packs;
    Tile tile(packs, items(i).count, thread);
    const auto said = op.part(tile);
    if (thread == 0) part[items.begin + i] = said;
    copy(i < fixed ? n : i + ahead);
  }
  wait_copies<0>();
  meet_grid();

  __shared__ typename Op::Whole of_row[rows_of_block];
  join_held<Block>(op, items, part, of_row);
  const auto write = [&](int i, const Packs& packs) {
    const auto item = items(i);
    const auto whole = of_row[item.row];
    Tile(packs, item.count, thread).template write<true>(t.y + item.at, [&](const auto* v, int place) {
      return op.template results<W, false>(v, item.from + place, whole);
    });
  };
  // In turn those without a slot, which are read ahead from the last on, and those in slots, first the fixed ones.
  const int of_slots = n < slots ? n : slots;
  int done = 0;
  const auto write_slot = [&] {
    if (done == of_slots) return;
    const int i = done < fixed ? done : n - of_slots + done;
    write(i, Tile::read(slot(i), length, thread));
    ++done;
  };
  const int others = n - ahead - fixed;
  const auto other = [&](int i) {
    return i < held_in_registers ? fixed + i : n - ahead - 1 - (i - held_in_registers);
  };
  for (int turn = 0; turn < others; turn += held_in_registers)
#pragma unroll
    for (int r = 0; r < held_in_registers; ++r)
      if (const int i = turn + r, next = i + held_in_registers; i < others) {
        const Packs now = kept[r];
        if (next < others) {
          const auto item = items(other(next));
          kept[r] = Tile::read(t.x + item.at, item.count, thread);
        }
        write(other(i), now);
        write_slot();
      }
  while (done < of_slots) write_slot();
}

/// Writes the results of few rows, if as many blocks as are needed run at once on the device.
template <class Op, class T, int Block, int E>
bool hold_rows(const Op& op, const RowTensors<T>& t, typename Op::Part* part, std::int64_t parts, int device,
               cudaStream_t stream) {
  constexpr auto kernel = rows_held<Op, T, Block, E>;
  static const std::int64_t most = blocks_together(device, kernel, Block, held_bytes);
  const std::int64_t items = t.rows * parts, blocks = std::min(items, most);
  if (parts > held_parts || !blocks) return false;
  const bool fit = t.rows <= rows_of_block || (items + blocks - 1) / blocks <= parts + 1;
  if (fit) launch_together(kernel, unsigned(blocks), Block, held_bytes, stream, op, t, part, parts);
  return fit;
}

}  // namespace
}  // namespace kolmo::cuda
