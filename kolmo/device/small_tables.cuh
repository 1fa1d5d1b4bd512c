#pragma once
// Sums over small tables (base/table_sums.hpp), several by a warp at a time. Anonymous namespace: see device/grid.cuh.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "kolmo/base/entropy.hpp"
#include "kolmo/base/table_sums.hpp"
#include "kolmo/device/short_sums.cuh"
#include "kolmo/device/small_counts.cuh"

namespace kolmo::cuda {
namespace {

/// The widest table whose columns are of one piece and whose rows are short.
constexpr int small_rows = 32, small_columns = 32;
static_assert(small_rows <= ColumnPieces<double>::rows_at_a_time && small_columns == short_terms);
constexpr int table_warps = sum_block / 32;
/// Blocks of a multiprocessor.
constexpr int table_blocks = 4;

/// A warp sums 2^each_bits tables at a time, which have at most `rows` rows and as many columns, and `rounds` times as many in all.
template <int Terms>
struct TableSteps {
  static constexpr int rows = 32 * short_terms / Terms, most = 16;
  int bx, by, each_bits, rounds;
  KOLMO_HD std::int64_t share() const { return std::int64_t(rounds) << each_bits; }
};

struct TableLogs {
  CountLogs of_count;
  SumLogs of_sum;
};

/// What a warp knows of its tables: small counts, two of a row in a word; what the margins of each contribute to entropies, as in
/// TableMargins, columns after all rows; and the sums of tables that are not finished yet.
template <bool WithColumns, int Terms>
struct TablesOfWarp {
  static constexpr int size = TableSteps<Terms>::rows, words = Terms / 2, margins = (1 + WithColumns) * size;
  alignas(16) std::uint32_t pairs[size * words];
  double total[size], term[margins];
  /// Bins less rows from bit 16 on and columns from bit 26 on, above 0; of small counts the total in the bits below.
  std::uint32_t count[margins];
  Sums<5> sums[TableSteps<Terms>::most];
  static_assert(short_terms * small_rows * small_counts <= 1 << 16 && small_columns < 1 << 6);

  __device__ void set_row(int row, const Sums<3>& sums) {
    const auto margin = margin_of_row(sums);
    total[row] = margin.value[0], term[row] = margin.value[1];
    count[row] = small_count(margin.value[2]) << 16;
  }
  __device__ void set_column(int column, double sum) {
    const auto margin = margin_of_column(sum);
    term[size + column] = margin.value[0], count[size + column] = small_count(margin.value[1]) << 26;
  }
  /// The same of small counts.
  __device__ void set_row(int row, const PairSums& sums, double log_sum, const SumLogs& logs) {
    const std::uint32_t n = sums.total();
    term[row] = exact_add(logs.of(n), -log_sum), count[row] = n + ((sums.bins() - (n > 0)) << 16);
  }
  __device__ void set_column(int column, std::uint32_t sum, const SumLogs& logs) {
    term[size + column] = logs.of(sum), count[size + column] = std::uint32_t(sum > 0) << 26;
  }
};

/// Sums the columns of some tables by a warp. Four threads, eight lanes apart, add every fourth row of a column each.
template <class T, int Terms>
__device__ void sum_small_columns(const T* weight, int tables, int bx, int by, int lane,
                                  TablesOfWarp<true, Terms>& to) {
  const int part = lane / 8, count = tables * by;
  for (int first = 0; first < count; first += 8) {
    const int column = first + lane % 8, table = int(unsigned(column) / unsigned(by));
    const bool active = column < count;
    const typename ColumnPieces<T>::Row rows{
        weight + (active ? (table * bx + part) * by + column - table * by : 0), 4 * by,
        active ? (bx + 3 - part) / 4 : 0};
    Sums<1> sum = sum_of_column<small_rows / 4, 1>(rows);
    sum = sum + shuffle_xor(sum, 16), sum = sum + shuffle_xor(sum, 8);
    if (part == 0 && active) to.set_column(column, sum.value[0]);
  }
}

/// Sums the rows and columns of `here` tables by a warp.
template <bool WithColumns, int Terms, class T>
__device__ void sum_weights(const T* weight, int here, const TableSteps<Terms>& steps, int lane,
                            TablesOfWarp<WithColumns, Terms>& to) {
  using Row = typename WeightRows<T>::Row;
  constexpr int threads = short_threads<pack_width<T>, Terms, 3, Row>;
  const int thread = lane % threads, group = lane / threads, count = here * steps.bx;
  for (int first = 0; first < count; first += 32 / threads) {
    const int row = first + group, k = row < count ? steps.by : 0;
    const Row terms{weight + (k ? row * steps.by : 0)};
    const ShortPacks<pack_width<T>, Terms, 3, Row> packs(terms, k, thread);
    const auto sum = sum_of_packs(terms, packs, steps.by);
    if (k && thread == 0) to.set_row(row, sum);
  }
  if constexpr (WithColumns) sum_small_columns(weight, here, steps.bx, steps.by, lane, to);
}

/// Reads tables in the order of memory and keeps their weights as counts. Returns whether all are small counts. Whole rows are of
/// Terms weights: their addresses differ by constants, and rows of zeros may follow the last. So all reads are in flight at
/// once, for which registers and predicates do not suffice otherwise. All: as many rows as there may be.
template <bool Whole, bool All, class T, bool WithColumns, int Terms>
__device__ bool read_counts(const T* weight, int here, const TableSteps<Terms>& steps, int lane,
                            TablesOfWarp<WithColumns, Terms>& to) {
  using Row = typename WeightRows<T>::Row;
  constexpr int W = pack_width<T>, ahead = 8;
  static_assert(to.size % (32 * W / Terms * ahead) == 0);
  const int by = Whole ? Terms : steps.by, packs = by / W, at_once = int(32u / unsigned(packs)),
            count = All ? to.size : here * steps.bx;
  int row = int(unsigned(lane) / unsigned(packs));
  const int pack = lane - row * packs, step = at_once * by;
  const T* from = weight + row * by + pack * W;
  if (!Whole && row >= at_once) row = count;  // an idle lane
  std::uint32_t* pairs = to.pairs + row * to.words + pack * (W / 2);
  bool counts = true;
#pragma unroll 1
  for (int first = 0; first < count; first += at_once * ahead) {
    Pack<T, W> next[ahead] = {};
#pragma unroll
    for (int a = 0; a < ahead; ++a)
      if (All || row + a * at_once < count) next[a] = load_pack<W>(from + a * step);
    const auto check = [&] {
      counts &= Row::template are_plain<ahead * W>([&](int i) { return next[i / W].value[i % W]; });
    };
    constexpr bool late =
        std::is_integral_v<T>;  // else ptxas has one read wait for another, or spills registers
    if (!late) check();
#pragma unroll
    for (int a = 0; a < ahead; ++a) {
      Pack<std::uint32_t, W / 2> pair;
#pragma unroll
      for (int w = 0; w < W / 2; ++w)
        pair.value[w] = pair_of(Row::small(next[a].value[2 * w]), Row::small(next[a].value[2 * w + 1]));
      if (Whole || row + a * at_once < count) store_pack(pairs + a * at_once * to.words, pair);
    }
    if (late) check();
    row += at_once * ahead, from += step * ahead, pairs += at_once * ahead * to.words;
  }
  return __all_sync(~0u, counts);
}
template <class T, bool WithColumns, int Terms>
__device__ bool read_counts(const T* weight, int here, const TableSteps<Terms>& steps, int lane,
                            TablesOfWarp<WithColumns, Terms>& to) {
  if constexpr (!std::is_same_v<T, float>)  // whose conversions take the registers
    if (steps.by == Terms)
      return here * steps.bx == to.size ? read_counts<true, true>(weight, here, steps, lane, to)
                                        : read_counts<true, false>(weight, here, steps, lane, to);
  return read_counts<false, false>(weight, here, steps, lane, to);
}

/// Does what sum_weights does if all weights are small counts, and returns whether they are. A thread sums a row.
template <class T, bool WithColumns, int Terms>
__device__ bool sum_counts(const T* weight, int here, const TableSteps<Terms>& steps, int lane,
                           const TableLogs& logs, TablesOfWarp<WithColumns, Terms>& to) {
  if (!read_counts(weight, here, steps, lane, to)) return false;
  __syncwarp();
  constexpr int words = to.words;
  const auto log_term = logs.of_count.of_lane(lane);
  for (int row = lane; row < here * steps.bx; row += 32) {
    Pack<std::uint32_t, 4> pairs[words / 4];
    PairSums sums;
#pragma unroll
    for (int i = 0; i < words; ++i) {
      if (i % 4 == 0) pairs[i / 4] = load_pack<4>(to.pairs + row * words + i);
      sums.add(pairs[i / 4].value[i % 4]);
    }
    const auto term = [&](int i) {
      const std::uint32_t pair = pairs[i / 8].value[i / 2 % 4];
      return Sums<1>{{i % 2 ? log_term.high(pair) : log_term.low(pair)}};
    };
    to.set_row(row, sums, tree_of<Terms, 1, 1>(term, 0).value[0], logs.of_sum);
  }
  if constexpr (WithColumns)
    for (int item = lane; item < here * words; item += 32) {
      const int table = item / words, word = item % words,
                other = steps.bx % 4 ? 0 : table % 4;  // row, for another bank
      const std::uint32_t* pairs = to.pairs + table * steps.bx * words + word;
      std::uint32_t sum = 0;
      const auto add = [&](auto there) {
#pragma unroll
        for (int x = 0; x < 8; ++x)
          if (there(x)) sum += pairs[(x ^ other) * words];
        pairs += 8 * words;
      };
      int rest = steps.bx;
#pragma unroll 1
      for (; rest >= 8; rest -= 8) add([](int) { return true; });
      if (rest > 0) add([&](int x) { return x < rest; });
      if (2 * word < steps.by) {
        const int column = table * steps.by + 2 * word;
        to.set_column(column, sum & 0xffff, logs.of_sum);
        to.set_column(column + 1, sum >> 16, logs.of_sum);
      }
    }
  return true;
}

/// The sums of `here` tables by a warp, which a team of its threads has for each, by the tree of base/sums.hpp.
template <bool Counts, bool WithColumns, int Terms>
__device__ void sum_margins(const TablesOfWarp<WithColumns, Terms>& of, int here,
                            const TableSteps<Terms>& steps, int lane, Sums<5>* to) {
  const int team = 32 >> steps.each_bits, thread = lane & (team - 1), table = lane >> (5 - steps.each_bits),
            rows = table < here ? steps.bx : 0,
            margins = table < here && WithColumns ? rows + steps.by : rows, first_row = table * steps.bx,
            first_column = of.size + table * steps.by - rows;
  constexpr int most = of.margins / 32, total = 1 + WithColumns;
  Sums<1 + WithColumns + !Counts> term[most] = {};
  std::uint32_t counts = 0;
#pragma unroll
  for (int a = 0; a < most; ++a) {
    const int i = thread + a * team;
    if constexpr (!Counts)
      if (i < rows) term[a].value[total] = of.total[first_row + i];
    if (i < margins) {
      const int margin = (i < rows ? first_row : first_column) + i;
      const double x = of.term[margin];
      if constexpr (WithColumns) term[a].value[1] = i < rows ? 0 : x;
      term[a].value[0] = i < rows ? x : 0, counts += of.count[margin];
    }
  }
  auto sum = tree<1>(term);
  double own = sum.value[0];
  if constexpr (WithColumns) {  // half of a team goes on with rows, half with columns
    const bool upper = thread >= team / 2;
    const double passed = upper ? sum.value[0] : sum.value[1];
    own = exact_add(upper ? sum.value[1] : sum.value[0], __shfl_xor_sync(~0u, passed, team / 2));
  }
#pragma unroll 1
  for (int half = team / 2; half; half /= 2) {
    if (!WithColumns || half < team / 2) own = exact_add(own, __shfl_xor_sync(~0u, own, half));
    if constexpr (!Counts)
      sum.value[total] = exact_add(sum.value[total], __shfl_xor_sync(~0u, sum.value[total], half));
    counts += __shfl_xor_sync(~0u, counts, half);
  }
  if (table >= here) return;
  auto& all = to[table].value;
  if (WithColumns && thread == team / 2) all[3] = own;
  if (thread) return;
  if constexpr (Counts)
    all[0] = of_small_count(counts & 0xffff);
  else
    all[0] = sum.value[total];
  all[1] = own, all[2] = of_small_count(counts >> 16 & 0x3ff), all[4] = of_small_count(counts >> 26);
  if (!WithColumns) all[3] = 0;
}

/// Sums and finishes the tables from `first` to `end` by a warp. Returns the first that it left: if Counts, in a step with other
/// weights than small counts.
template <bool Counts, class T, bool WithColumns, int Terms, class Done>
__device__ std::int64_t sum_share(const T* weight, std::int64_t first, std::int64_t end,
                                  const TableSteps<Terms>& steps, int lane, const TableLogs& logs, Done done,
                                  TablesOfWarp<WithColumns, Terms>& of) {
  const int size = steps.bx * steps.by, each = 1 << steps.each_bits, count = int(end - first);
  bool fits = true;
  int at = 0;
  while (fits && at < count) {
    const T* const from = weight + (first + at) * size;
    const int here = std::min(each, count - at);
    int held = at % steps.most;
    if constexpr (Counts)
      fits = sum_counts(from, here, steps, lane, logs, of);
    else
      sum_weights(from, here, steps, lane, of);
    __syncwarp();
    if (fits) {
      sum_margins<Counts>(of, here, steps, lane, of.sums + held);
      held += here, at += here;
    }
    __syncwarp();
    if ((!fits || held == steps.most || at == count) && lane < held)
      done(first + at - held + lane, of.sums[lane]);
  }
  return first + at;
}
/// Not inlined: else it would take registers from the loop over small counts.
template <class T, bool WithColumns, int Terms, class Done>
[[gnu::noinline]] __device__ void sum_rest(const T* weight, std::int64_t first, std::int64_t end,
                                           TableSteps<Terms> steps, int lane, const TableLogs& logs,
                                           Done done, TablesOfWarp<WithColumns, Terms>& of) {
  sum_share<false>(weight, first, end, steps, lane, logs, done, of);
}

/// What sum_tables computes, by the same trees.
template <bool WithColumns, int Terms, class T, class Done>
__global__ void __launch_bounds__(sum_block, table_blocks)
    sum_small_tables(EarlyStart early, const T* weight, std::int64_t tables, TableSteps<Terms> steps,
                     Done done) {
  __shared__ TablesOfWarp<WithColumns, Terms> warps[table_warps];
  __shared__ TableLogs logs;
  const int lane = int(threadIdx.x % 32), number = int(threadIdx.x / 32);
  logs.of_count.fill(), logs.of_sum.fill();
  auto& mine = warps[number];
  for (int i = lane; i < mine.size * mine.words; i += 32) mine.pairs[i] = 0;  // they stay beyond ends of rows
  __syncthreads();
  early.wait();
  const std::int64_t first = (std::int64_t(blockIdx.x) * table_warps + number) * steps.share(),
                     end = std::min(first + steps.share(), tables),
                     next = sum_share<true>(weight, first, end, steps, lane, logs, done, mine);
  if (next < end) sum_rest(weight, next, end, steps, lane, logs, done, mine);
}

/// Does what sum_tables does, if the tables are small and their rows aligned; returns whether it did.
template <bool WithColumns, class T, class Done>
bool sum_if_small(const T* weight, const TableShape& shape, const Done& done, cudaStream_t stream) {
  const auto [tables, bx, by] = shape;
  if (bx > small_rows || by > small_columns || !are_short<pack_width<T>>(by) ||
      !WeightRows<T>{weight, by}.packed(tables * bx))
    return false;
  const auto run = [&]<int Terms> {
    using Steps = TableSteps<Terms>;
    constexpr std::int64_t warps = 132 * table_blocks * table_warps;  // of an H200 at a time
    const std::int64_t most = std::min<std::int64_t>(Steps::most,
                                                     Steps::rows / std::max<std::int64_t>({bx, by, 2})),
                       each =
                           std::clamp<std::int64_t>(tables / warps, 1, most);  // of few one, for more warps
    const int each_bits = std::bit_width(std::uint64_t(each)) - 1;
    const Steps steps{int(bx), int(by), each_bits, int(((tables - 1) >> each_bits) / warps + 1)};
    const unsigned grid = unsigned((tables - 1) / (table_warps * steps.share()) + 1);
    cuda::launch_early(sum_small_tables<WithColumns, Terms, T, Done>, grid, sum_block, 0, stream, weight,
                       tables, steps, done);
  };
  if (by <= short_terms / 2)
    run.template operator()<short_terms / 2>();
  else
    run.template operator()<short_terms>();
  return true;
}

}  // namespace
}  // namespace kolmo::cuda
