#pragma once
// Few long rows of a row operator (skeleton/row_op.hpp) by one grid whose blocks run at once. Each reads its items, parts of rows
// in their order, and waits for the others; then it joins the parts of its rows and writes the results of its items. Most of what
// it has read stays in shared memory and registers, the rest in the second cache. A thread joins its own elements item by item, so
// that warps wait for each other once a row only. Anonymous namespace: see device/grid.cuh.
#include <algorithm>

#include "kolmo/device/async.cuh"
#include "kolmo/device/row_tile.cuh"
#include "kolmo/device/together.cuh"
#include "kolmo/skeleton/row_op.hpp"

namespace kolmo::cuda {
namespace {

/// Threads of a block, the only one of a multiprocessor, and its shared memory. On an H200 a block has 16 items of a row of 2^24
/// floats, of which 7 fit into shared memory and 4 into registers.
constexpr int held_block = 512, held_bytes = 224 * 1024;
/// Elements that a thread has of an item, and items of a block in registers. With so many layer_norm of floats spills 16 bytes, with
/// one more softmax of floats 20.
template <class T>
constexpr int held_elements = 64 / int(sizeof(Compute<T>));
template <class T>
constexpr int held_in_registers = sizeof(T) == 8 ? 1 : 4;
/// Items of a block for which a grid that waits for itself is worth its start, and up to which it holds enough of them. A
/// thread adds them one after the other.
constexpr std::int64_t held_from = 2, held_to = 32;
constexpr int rows_of_block = 2;

/// The items of this block: parts of `length` elements of at most two rows. If the tensor has no more rows, the block takes every
/// gridDim.x-th item, so that all blocks together read and write neighbouring memory; else a range of neighbouring items. The
/// elements after the last item of a row, its tail, belong to the block of that item.
struct HeldItems {
  int k, length, of_row, tail;  ///< of a row: its elements, those of an item, its items, elements of its tail
  bool apart;                   ///< whether the block takes every gridDim.x-th item
  int each, longer;             ///< items of a block, and how many blocks, the first, have one more
  int stride, begin, count;     ///< from an item here to the next; the first of them, and how many
  int first, of_first;          ///< the first row here, and how many of the items are of it

  /// `each_`: whole items for each block. Where there are at most two rows, each has gridDim.x items or more.
  __device__ HeldItems(int rows, int k_, int length_, int of_row_, int each_)
      : k(k_),
        length(length_),
        of_row(of_row_),
        tail(k_ - of_row_ * length_),
        apart(rows <= rows_of_block),
        each(each_) {
    const int block = int(blockIdx.x), blocks = int(gridDim.x);
    longer = rows * of_row - blocks * each;
    count = each + (block < longer);
    if (apart) {
      stride = blocks, begin = block, first = 0;
      of_first = rows == 1 ? count : (of_row - block + blocks - 1) / blocks;
    } else {
      stride = 1, begin = block * each + (block < longer ? block : longer), first = begin / of_row;
      const int before_second = (first + 1) * of_row - begin;
      of_first = before_second < count ? before_second : count;
    }
  }
  __device__ int row(int i) const { return i >= of_first; }
  /// Where item i begins in its row.
  __device__ int column(int i) const { return (begin + i * stride - (first + row(i)) * of_row) * length; }
  /// An item, and the place of a thread in a tensor where it begins.
  template <class P>
  struct Cursor {
    int item;
    P at;
  };
  template <class P>
  __device__ Cursor<P> at(int i, P begin_of_tensor) const {
    return {i, begin_of_tensor + std::int64_t(first + row(i)) * k + column(i)};
  }
  template <class P>
  __device__ void advance(Cursor<P>& c) const {
    c.at += stride * length;
    if (++c.item == of_first) c.at += tail;
  }
  __device__ int rows() const { return 1 + (of_first < count); }
  /// Whether the tail of row 0 or 1 here is of this block, and where it begins in the tensors.
  __device__ bool ends(int r) const {
    return tail != 0 && block_of((first + r + 1) * of_row - 1) == int(blockIdx.x);
  }
  __device__ std::int64_t tail_at(int r) const { return std::int64_t(first + r + 1) * k - tail; }
  __device__ int block_of(int item) const {
    if (apart) return item % int(gridDim.x);
    const int of_longer = longer * (each + 1);
    return item < of_longer ? item / (each + 1) : longer + (item - of_longer) / each;
  }
  /// The blocks that have items of a row, and the place of the first one's part of it: parts of a row are neighbours.
  struct Blocks {
    int first, count, place;
  };
  __device__ Blocks blocks_of(int row_) const {
    if (apart) return {0, int(gridDim.x), row_ * int(gridDim.x)};
    const int from = block_of(row_ * of_row);
    return {from, block_of((row_ + 1) * of_row - 1) + 1 - from, from + row_};
  }
  /// Of the part that this block has of row 0 or 1 here.
  __device__ int place(int r) const {
    const Blocks blocks = blocks_of(first + r);
    return blocks.place + int(blockIdx.x) - blocks.first;
  }
};

/// Finds what every element needs to know of its row, for the rows of a block's items.
template <int Block, class Op>
__device__ void join_held(const Op& op, const HeldItems& items, const Word* part,
                          typename Op::Whole (&of_row)[rows_of_block]) {
  using Part = typename Op::Part;
  for (int r = 0; r < items.rows(); ++r) {
    const auto blocks = items.blocks_of(items.first + r);
    const Word* const of_first = part + blocks.place * words_of<Part>;
    const int share = (blocks.count + Block - 1) / Block, begin = int(threadIdx.x) * share;
    Part all{};
    for (int p = begin; p < begin + share; ++p)
      all = join(all, take_part<Part>(of_first + p * words_of<Part>, p < blocks.count));
    all = join_block<Block>(all);
    if (threadIdx.x != 0) continue;
    const auto whole = op.whole(all);
    of_row[r] = whole;
    if (blocks.first == int(blockIdx.x)) op.keep(items.first + r, whole);
  }
  __syncthreads();
}

/// Items are copied to slots of shared memory in turn. At the end these have the last items, and registers those before; the
/// second cache is asked to keep the first ones, the rest, until they are read again, by the slots whose results are written. Tails
/// are read and written apart.
template <class Op, class T>
__global__ void __launch_bounds__(held_block, 1)
    rows_held(Op op, RowTensors<T> t, Word* part, int of_row, int each) {
  using Part = typename Op::Part;
  constexpr int Block = held_block, E = held_elements<T>, W = pack_width<T>, step = Block * W,
                length = Block * E, bytes = length * int(sizeof(T)), slots = held_bytes / bytes,
                most_kept = held_in_registers<T>;
  using Tile = RowTile<T, 1, W, E>;
  using Tail = RowTile<T, Block, W, E>;
  using Packs = typename Tile::Packs;
  using Bytes = Pack<T, W>;
  const HeldItems items(int(t.rows), int(t.k), length, of_row, each);
  const int n = items.count, of_slots = n < slots ? n : slots, others = n - of_slots,
            in_registers = others < most_kept ? others : most_kept, rest = others - in_registers;
  const int start = int(threadIdx.x) * W;
  T* const mine = dynamic_shared<T>() + start;  // each thread copies what it reads itself
  int slot = 0;
  const auto next_slot = [&] { slot = slot == (slots - 1) * length ? 0 : slot + length; };
  const CachePolicy once = cache_policy(Keep::once), again = cache_policy(Keep::again),
                    ordinary = cache_policy(Keep::ordinary);
  auto copied = items.at(0, t.x + start);
  const auto copy = [&](int end, CachePolicy policy) {
    if (copied.item < end) {
#pragma unroll
      for (int p = 0; p < E / W; ++p)
        copy_async(reinterpret_cast<Bytes*>(mine + slot + p * step),
                   reinterpret_cast<const Bytes*>(copied.at + p * step), true, policy);
      items.advance(copied);
    }
    commit_copies();
    next_slot();
  };
  // Two calls, as a policy that is chosen before one would be moved between registers for each copy.
  const auto copy_first = [&] {
    if (copied.item < rest)
      copy(rest, again);
    else
      copy(n, once);
  };
  const auto read = [&] {
    Packs packs;
#pragma unroll
    for (int p = 0; p < E / W; ++p) packs.pack[p] = load_pack<W>(mine + slot + p * step);
    return packs;
  };

  const auto place_of = [&](int row) { return part + items.place(row) * words_of<Part>; };
  if (int(threadIdx.x) < items.rows()) empty_part<Part>(place_of(int(threadIdx.x)));
  const Arrival arrival = arrive_in_grid();  // before the copies, behind which what it reads would queue
  for (int i = 0; i < slots; ++i) copy_first();
  Packs kept[most_kept];
  Part all{}, first{};
  int added = 0;
  const auto add = [&] {
    wait_copies<slots - 1>();
    const Packs packs = read();
    Tile tile(packs, E, 0);
    all = join(all, op.part(tile));
    copy_first();
    if (++added == items.of_first) first = all, all = {};
    return packs;
  };
#pragma unroll 1
  for (int i = 0; i < rest; ++i) add();
#pragma unroll
  for (int r = 0; r < most_kept; ++r)
    if (r < in_registers) kept[r] = add();
#pragma unroll 1
  for (int i = others; i < n; ++i) add();
#pragma unroll 1
  for (int row = 0; row < items.rows(); ++row) {
    Part of_block = join_block<Block>(row ? all : first);
    if (items.ends(row)) {
      Tail tail(t.x + items.tail_at(row), items.tail, int(threadIdx.x));
      of_block = join(of_block, op.part(tail));
    }
    if (threadIdx.x == 0) leave_part(place_of(row), of_block);
  }
  wait_for_grid(arrival);  // all blocks have emptied their places

  __shared__ typename Op::Whole of_row_here[rows_of_block];
  join_held<Block>(op, items, part, of_row_here);
  T* const y = t.y + start;
  auto written = items.at(others, y);
  const auto write = [&](const Packs& packs) {
    const auto whole = of_row_here[items.row(written.item)];
    const int column = items.column(written.item) + start;
#pragma unroll
    for (int p = 0; p < E / W; ++p) {
      const auto wide = widened(packs.pack[p]);
      write_once(written.at + p * step,
                 narrowed<T, W>(op.template results<W, false>(wide.value, column + p * step, whole)));
    }
    items.advance(written);
  };
  copied = items.at(0, t.x + start);
  if (n < slots) slot = 0;  // else it is that of the first item that is still there
#pragma unroll 1
  for (int i = others; i < n; ++i) {
    write(read());
    copy(rest, ordinary);
  }
  written = items.at(rest, y);
#pragma unroll
  for (int r = 0; r < most_kept; ++r)
    if (r < in_registers) write(kept[r]);
  written = items.at(0, y);
#pragma unroll 1
  for (int i = 0; i < rest; ++i) {
    wait_copies<slots - 1>();
    write(read());
    copy(rest, ordinary);
  }
#pragma unroll 1
  for (int row = 0; row < items.rows(); ++row) {
    if (!items.ends(row)) continue;
    const std::int64_t at = items.tail_at(row);
    Tail(t.x + at, items.tail, int(threadIdx.x))
        .template write<true>(t.y + at, [&](const auto* x, int place) {
          return op.template results<W, false>(x, of_row * length + place, of_row_here[row]);
        });
  }
}

/// Writes the results of few rows, if as many blocks as are needed run at once on the device. `part` has place for `places` parts.
template <class Op, class T>
bool hold_rows(const Op& op, const RowTensors<T>& t, typename Op::Part* part, std::int64_t places, int device,
               cudaStream_t stream) {
  constexpr auto kernel = rows_held<Op, T>;
  static const std::int64_t most = blocks_together(device, kernel, held_block, held_bytes);
  constexpr std::int64_t length = held_block * held_elements<T>;
  const std::int64_t of_row = t.k / length, items = t.rows * of_row;
  if (!most || items < held_from * most || items > held_to * most) return false;
  // The fewest blocks that end no later: on an H200 128 of 16 items were faster than 132 of 15 or 16.
  const std::int64_t of_block = (items + most - 1) / most, blocks = (items + of_block - 1) / of_block;
  const bool fit =
      (t.rows <= rows_of_block || (items + blocks - 1) / blocks <= of_row + 1) &&
      bytes_of_parts<typename Op::Part>(t.rows <= rows_of_block ? blocks * t.rows : blocks + t.rows) <=
          places * std::int64_t(sizeof(*part));
  if (fit)
    launch_together(kernel, unsigned(blocks), held_block, held_bytes, stream, op, t,
                    reinterpret_cast<Word*>(part), int(of_row), int(items / blocks));
  return fit;
}

}  // namespace
}  // namespace kolmo::cuda
