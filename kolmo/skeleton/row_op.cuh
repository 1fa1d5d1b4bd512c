#pragma once
// Kernels of row operators (skeleton/row_op.hpp), seven or eight for each element type.
#include <iterator>
#include <type_traits>

#include "kolmo/base/quotient.hpp"
#include "kolmo/device/row_tile.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cuda/launch.cuh"
#include "kolmo/skeleton/row_op.hpp"

namespace kolmo::cuda {
namespace {

/// How the threads that compute a row hold it. group: `threads` threads hold the whole row in registers, up
/// to `bytes` each; the row must be readable 16 bytes at once. parts: they hold one part of the row at a
/// time. memory: they read the row from memory at each pass.
enum class RowHolder { group, parts, memory };
struct RowPlan {
  RowHolder holder;
  int threads, block, bytes;

  template <class T>
  constexpr int elements() const {
    return bytes / int(sizeof(Compute<T>));
  }
  template <class T>
  constexpr std::int64_t capacity() const {
    return std::int64_t(threads) * elements<T>();
  }
  template <class T>
  constexpr std::int64_t parts(std::int64_t k) const {
    return (k + capacity<T>() - 1) / capacity<T>();
  }
};
// If an operator reads values per column, "128 threads per row" computes rows of floats by blocks of 256
// threads for one or two rows (pairs_of_rows).
constexpr Row<RowPlan> row_op_rows[] = {
    {"warp per row", {RowHolder::group, 32, 128, 128}},
    {"128 threads per row", {RowHolder::group, 128, 128, 128}},
    {"block of 256 per row", {RowHolder::group, 256, 256, 256}},
    {"row in parts of a block of 256", {RowHolder::parts, 256, 256, 64}},
    {.name = "thread per row", .config = {RowHolder::memory, 1, 128, 0}, .naive = true}};

template <class Op>
concept ReadsColumns = requires {
  requires Op::reads_columns();
};
/// From this number of rows on a block computes two of them. Fewer rows spread more evenly over the
/// multiprocessors one by one.
constexpr std::int64_t pairs_from = 512;

/// Number of blocks that a multiprocessor should hold at once. Threads of 64 registers leave room for 8
/// blocks of 128.
template <class T, int Block>
inline constexpr int resident_blocks = Block == 128 && sizeof(T) <= 4 ? 8 : 1;

template <class Op, class T, int Threads, int Block, int E>
__global__ void __launch_bounds__(Block, resident_blocks<T, Block>)
    whole_rows(EarlyStart early, Op op, RowTensors<T> t) {
  constexpr int groups = Block / Threads, width = pack_width<T>;
  early.wait();
  for (std::int64_t row = std::int64_t(blockIdx.x) * groups + threadIdx.x / Threads; row < t.rows;
       row += std::int64_t(gridDim.x) * groups) {
    RowTile<T, Threads, width, E> tile(t.x + row * t.k, int(t.k), int(threadIdx.x) % Threads);
    const auto whole = op.whole(op.part(tile));
    tile.write(t.y + row * t.k,
               [&](const auto* v, int at) { return op.template results<width, true>(v, at, whole); });
    if (tile.thread == 0) op.keep(row, whole);
  }
}

/// Computes `together` rows (1 or 2) of a block at once. Two rows share the values per column that an
/// operator's results read: on an H200 layer_norm of 4096 rows of 4096 floats took 37.9 us with 128 threads
/// per row, 34.6 us with 256 for two. If the last row has no second one, it is computed twice and written
/// once.
template <class Op, class T, int Block, int E>
__global__ void __launch_bounds__(Block, 4)
    pairs_of_rows(EarlyStart early, Op op, RowTensors<T> t, std::int64_t together) {
  constexpr int width = pack_width<T>;
  using Tile = RowTile<T, Block, width, E>;
  early.wait();
  for (std::int64_t row = together * std::int64_t(blockIdx.x); row < t.rows;
       row += together * std::int64_t(gridDim.x)) {
    // Keep `together` out of a condition of its own: the compiler then splits the loop, and 34.6 us become
    // 36.
    const std::int64_t last = row + together - 1, other = last < t.rows ? last : row;
    const std::int64_t at[] = {row * t.k, other * t.k};
    const bool both = other != row;
    Tile first(t.x + at[0], int(t.k), int(threadIdx.x)), second(t.x + at[1], int(t.k), int(threadIdx.x));
    const auto of_first = op.whole(op.part(first)), of_second = op.whole(op.part(second));
#pragma unroll
    for (int p = 0; p < E / width; ++p)
      if (const int i = first.place(p); i < first.n) {
        const auto result = [&](const Tile& tile, const auto& whole) {
          return narrowed<T, width>(op.template results<width, true>(tile.value + p * width, i, whole));
        };
        const auto y = result(first, of_first), z = result(second, of_second);
        store_pack(t.y + at[0] + i, y);
        if (both) store_pack(t.y + at[1] + i, z);
      }
    if (threadIdx.x != 0) continue;
    op.keep(row, of_first);
    if (both) op.keep(row + 1, of_second);
  }
}

enum class RowStage { parts, join, outputs };
/// Computes the result of each part of a row or, in the stage of outputs, writes the outputs. That stage goes
/// from the last part to the first, since caches still hold what was read last.
template <class Op, class T, int Block, int W, int E>
__device__ void part_of_rows(const Op& op, const RowTensors<T>& t, typename Op::Part* part,
                             const typename Op::Whole* whole, std::int64_t parts, RowStage stage) {
  constexpr std::int64_t length = Block * E;
  const std::int64_t items = t.rows * parts;
  for (std::int64_t i = blockIdx.x; i < items; i += gridDim.x) {
    const std::int64_t item = stage == RowStage::outputs ? items - 1 - i : i, row = quotient(item, parts),
                       begin = (item - row * parts) * length, rest = t.k - begin;
    RowTile<T, Block, W, E> tile(t.x + row * t.k + begin, int(rest < length ? rest : length),
                                 int(threadIdx.x));
    if (stage == RowStage::parts) {
      const auto said = op.part(tile);
      if (threadIdx.x == 0) part[item] = said;
      continue;
    }
    const auto of_row = whole[row];
    tile.template write<true>(t.y + row * t.k + begin, [&](const auto* v, int at) {
      return op.template results<W, false>(v, begin + at, of_row);
    });
  }
}
/// Joins the parts of each row by a block.
template <int Block, class Op>
__device__ void join_rows(const Op& op, const typename Op::Part* part, typename Op::Whole* whole,
                          std::int64_t rows, std::int64_t parts) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const auto of_row = op.whole(join_parts<Block>(part + row * parts, parts));
    if (threadIdx.x != 0) continue;
    whole[row] = of_row;
    op.keep(row, of_row);
  }
}
template <class Op, class T, int Block, int E>
__global__ void __launch_bounds__(Block, sizeof(Compute<T>) <= 4 ? 4 : 2)
    parts_of_rows(EarlyStart early, Op op, RowTensors<T> t, typename Op::Part* part,
                  typename Op::Whole* whole, std::int64_t parts, bool packed, RowStage stage) {
  early.wait();
  if (stage == RowStage::join)
    join_rows<Block>(op, part, whole, t.rows, parts);
  else if (packed)
    part_of_rows<Op, T, Block, pack_width<T>, E>(op, t, part, whole, parts, stage);
  else
    part_of_rows<Op, T, Block, 1, E>(op, t, part, whole, parts, stage);
}

/// Computes rows of any length and alignment, element by element.
template <class Op, class T>
__global__ void single_elements_of_rows(EarlyStart early, Op op, RowTensors<T> t, int threads) {
  early.wait();
  for (std::int64_t row = quotient(thread_index(), threads); row < t.rows;
       row += quotient(thread_count(), threads)) {
    const MemoryRow<T> values{t.x + row * t.k, t.k, int(threadIdx.x) % threads, threads};
    const auto whole = op.whole(op.part(values));
    for (std::int64_t i = values.thread; i < t.k; i += threads) {
      const auto v = Compute<T>(values.row[i]);
      t.y[row * t.k + i] = T(op.template results<1, false>(&v, i, whole).value[0]);
    }
    if (values.thread == 0) op.keep(row, whole);
  }
}

/// The workspace of rows that are computed in parts.
template <class Op>
struct RowScratch {
  typename Op::Part* part = nullptr;
  typename Op::Whole* whole = nullptr;

  template <class T>
  RowScratch(Arena& arena, const RowTensors<T>& t, int row) {
    const RowPlan& plan = row_op_rows[row].config;
    if (plan.holder != RowHolder::parts) return;
    part = arena.take<typename Op::Part>(t.rows * plan.template parts<T>(t.k));
    whole = arena.take<typename Op::Whole>(t.rows);
  }
};

template <RowPlan Plan, class Op, class T>
void launch_rows(const Op& op, const RowTensors<T>& t, const RowScratch<Op>& scratch, Stream& s) {
  constexpr int threads = Plan.threads, block = Plan.block, all = Plan.template elements<T>();
  const bool packed = t.k % pack_width<T> == 0 && packed_rows<T>(t.rows, t.k, t.x, t.y) && op.packed();
  const auto start = [&](auto kernel, std::int64_t groups, int of, auto... arguments) {
    cuda::launch_early(kernel, blocks(groups, block / of), block, 0, native(s), op, t, arguments...);
  };
  if constexpr (Plan.holder == RowHolder::parts) {
    const std::int64_t parts = Plan.template parts<T>(t.k);
    for (const RowStage stage : {RowStage::parts, RowStage::join, RowStage::outputs})
      start(parts_of_rows<Op, T, block, all>, stage == RowStage::join ? t.rows : t.rows * parts, threads,
            scratch.part, scratch.whole, parts, packed, stage);
  } else if (Plan.holder == RowHolder::memory || !packed) {
    start(single_elements_of_rows<Op, T>, t.rows, threads, threads);
  } else if constexpr (Plan.holder == RowHolder::group) {
    // Short rows are computed by fewer threads: each then has more reads in flight, and there are fewer
    // shuffles.
    if constexpr (threads == 32 && sizeof(T) == 2)
      if (t.k <= 4 * all) return start(whole_rows<Op, T, 4, block, all>, t.rows, 4);
    if constexpr (threads == 32)
      if (t.k <= 8 * all) return start(whole_rows<Op, T, 8, block, all>, t.rows, 8);
    if constexpr (threads == 128 && std::is_same_v<T, float> && ReadsColumns<Op>) {
      constexpr int of_pair = 2 * block;
      const std::int64_t together = t.rows < pairs_from ? 1 : 2;
      cuda::launch_early(pairs_of_rows<Op, T, of_pair, all / 2>,
                         blocks((t.rows + together - 1) / together, 1), of_pair, 0, native(s), op, t,
                         together);
    } else {
      start(whole_rows<Op, T, threads, block, all>, t.rows, threads);
    }
  }
}

template <class A, template <class> class Op>
constexpr Impl<A> row_op() {
  return ImplCode<A>{
      .rows = row_op_rows,
      .launch =
          [](const A& a, Arena scratch, Stream& s, int row) {
            visit_row_types(a.x.dtype, [&]<class T> {
              const RowTensors<T> t(a);
              const RowScratch<Op<T>> space(scratch, t, row);
              select<std::size(row_op_rows)>(
                  row, [&]<int V> { launch_rows<row_op_rows[V].config>(Op<T>(a), t, space, s); });
            });
          },
      .lay =
          [](Arena& arena, const A& a, const Site& site) {
            visit_row_types(a.x.dtype,
                            [&]<class T> { RowScratch<Op<T>>(arena, RowTensors<T>(a), site.row); });
          },
      .fits =
          [](const A& a, int row) {
            bool fits = false;
            visit_row_types(a.x.dtype, [&]<class T> {
              const RowPlan& plan = row_op_rows[row].config;
              fits = plan.holder != RowHolder::group || a.x.dim(-1) <= plan.template capacity<T>();
            });
            return fits;
          }};
}

}  // namespace
}  // namespace kolmo::cuda
