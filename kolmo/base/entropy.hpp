#pragma once
// Terms of entropy-like sums over non-negative weights (counts or probabilities), in nats, with the same bits
// on every device. A negative or NaN weight makes the sums of its row NaN, from which the end of the row knows it: terms
// are not checked one by one.
#include <limits>
#include <string_view>
#include <type_traits>

#include "kolmo/base/log.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/base/sums.hpp"

namespace kolmo {

namespace detail {

/// n ln n of small counts, rounded.
inline constexpr int small_counts = 64;
struct alignas(128) CountTable {
  double value[small_counts];
};
// clang-format off
inline constexpr CountTable count_table{{
    0, 0, 0x1.62e42fefa39efp+0, 0x1.a5ddfb8038490p+1, 0x1.62e42fefa39efp+2, 0x1.018293af47840p+3, 0x1.58048fb9f9802p+3,
    0x1.b3e24586c0f0cp+3, 0x1.0a2b23f3bab73p+4, 0x1.3c667ca02a36cp+4, 0x1.7069e2aa2aa5bp+4, 0x1.a60791c4eec08p+4,
    0x1.dd1a21b3d6dbbp+4, 0x1.0ac1363184202p+5, 0x1.27930d3fcc433p+5, 0x1.44f74d5b8739dp+5, 0x1.62e42fefa39efp+5,
    0x1.815127e1a2771p+5, 0x1.a036aa1b903b7p+5, 0x1.bf8e0272594c5p+5, 0x1.df5131a50dc76p+5, 0x1.ff7ad22d29548p+5,
    0x1.1003011fa77f9p+6, 0x1.207728e6eb955p+6, 0x1.3117d9d6da1bbp+6, 0x1.41e3389b19650p+6, 0x1.52d78fee315c6p+6,
    0x1.63f34c342f7d9p+6, 0x1.7534f7bc380dfp+6, 0x1.869b378b2ae4cp+6, 0x1.9824c897b1931p+6, 0x1.a9d07d64ca1ffp+6,
    0x1.bb9d3beb8c86bp+6, 0x1.cd89fbc7c6698p+6, 0x1.df95c49d49ed5p+6, 0x1.f1bfacad972a0p+6, 0x1.02036bcb7b201p+7,
    0x1.0b353a9b9fb79p+7, 0x1.1474e056beefcp+7, 0x1.1dc1ffbb2e86fp+7, 0x1.271c404ff8748p+7, 0x1.30834e08f6662p+7,
    0x1.39f6d8f3e5825p+7, 0x1.437694ed60e9bp+7, 0x1.4d02395cd79eep+7, 0x1.569980f6b29c8p+7, 0x1.603c2983fafbep+7,
    0x1.69e9f3aee70c6p+7, 0x1.73a2a2d3c8c97p+7, 0x1.7d65fcd5e8d2bp+7, 0x1.8733c9f7e75a1p+7, 0x1.910bd4b748ccbp+7,
    0x1.9aede9aade98bp+7, 0x1.a4d9d763c5a3dp+7, 0x1.aecf6e50bc012p+7, 0x1.b8ce80a396631p+7, 0x1.c2d6e238a3d8bp+7,
    0x1.cce8687fd3aeep+7, 0x1.d702ea6775f6cp+7, 0x1.e126404873477p+7, 0x1.eb5243d3dbec5p+7, 0x1.f586d001b1df9p+7,
    0x1.ffc3c100d3c07p+7, 0x1.05047a13f8bbbp+8}};
// clang-format on
#ifdef __CUDACC__
static __device__ const CountTable count_table_on_gpu = count_table;
#endif

}  // namespace detail

/// x + 2^52 has a small integer x in its last bits. These and the way back are cheaper than conversions.
KOLMO_HD constexpr std::uint32_t small_count(double x) {
#ifdef __CUDA_ARCH__
  if (!std::is_constant_evaluated()) return std::uint32_t(__double2loint(exact_add(x, 0x1p52)));
#endif
  return std::uint32_t(std::bit_cast<std::uint64_t>(exact_add(x, 0x1p52)));
}
KOLMO_HD constexpr double of_small_count(std::uint32_t n) {
  return exact_add(std::bit_cast<double>(0x4330000000000000 | n), -0x1p52);
}
/// Whether x is an integer of [0, 64).
KOLMO_HD constexpr bool is_small_count(double x) {
  const std::uint32_t n = small_count(x);
  return n < detail::small_counts && of_small_count(n) == x;
}
/// n ln n.
KOLMO_HD constexpr double count_log_count(std::uint32_t n) {
  return KOLMO_OF_SIDE(detail::count_table, detail::count_table_on_gpu).value[n];
}

/// x ln x; 0 for x = 0, NaN for x < 0. Small counts are looked up, others computed, once for a kernel's code.
KOLMO_HD constexpr double x_log_x(double x) {
  if (is_small_count(x)) return count_log_count(small_count(x));
  double factor = x, scaled = x;
  int k = 0;
  if (!is_normal(x)) {
    factor = x > 0 ? x : std::numeric_limits<double>::quiet_NaN();
    scaled = exact_mul(x, 0x1p54), k = -54;
  }
  return exact_mul(factor, log_scaled(scaled, k));
}

/// Sets negative values to 0: rounding may push a non-negative quantity slightly below 0. NaN stays NaN.
KOLMO_HD constexpr double not_below_zero(double x) { return x < 0 ? 0 : x; }

/// Of operators on weights, reported by report_weights.
inline constexpr std::string_view weight_faults[] = {"weights are negative, not finite or too large to sum",
                                                     "weights sum to 0"};

/// Reports what makes the sums of a row of weights unusable: `log_sum` of terms w ln w, and `total` where it divides.
KOLMO_HD inline void report_weights(const Status& status, std::int64_t row, double log_sum, double total) {
  if (!(log_sum - log_sum == 0))
    status.report(0, row);
  else if (total == 0)
    status.report(1, row);
}

/// Sums over the weights w of a row: sum w, sum w ln w, number of w > 0.
template <class T>
struct WeightRows {
  using Element = T;
  const T* weight;
  std::int64_t k;

  struct Row {
    const T* weight;
    KOLMO_HD T fetch(std::int64_t i) const { return weight[i]; }
    template <int W>
    struct Weights {
      Pack<T, W> weight;
      KOLMO_HD T operator[](int w) const { return weight.value[w]; }
    };
    template <int W>
    KOLMO_HD Weights<W> fetch_pack(std::int64_t i) const {
      return {load_pack<W>(weight + i)};
    }
    KOLMO_HD Sums<3> of(T weight) const {
      const double w = double(weight);
      return {{w, x_log_x(w), double(weight > 0)}};
    }
    /// Whether at(0) ... at(N - 1) are all small counts: of_plain() looks up their terms, without a branch between them.
    template <int N, class At>
    KOLMO_HD static bool are_plain(const At& at) {
      if constexpr (std::is_integral_v<T>) {
        std::make_unsigned_t<T> any = 0;
        for (int i = 0; i < N; ++i) any |= std::make_unsigned_t<T>(at(i));
        return any < detail::small_counts;
      } else {
        if (N > 1 && !are_plain<1>(at)) return false;  // often the first one tells
        std::uint32_t any = 0;
        bool whole = true;
        for (int i = 0; i < N; ++i) {
          const std::uint32_t n = small_count(double(at(i)));
          any |= n;
          whole = whole & (of_small_count(n) == double(at(i)));
        }
        return whole & (any < detail::small_counts);
      }
    }
    KOLMO_HD static std::uint32_t small(T weight) {
      if constexpr (std::is_integral_v<T>)
        return std::uint32_t(weight);
      else
        return small_count(double(weight));
    }
    KOLMO_HD Sums<3> of_plain(T weight) const {
      const std::uint32_t n = small(weight);
      return {{double(weight), count_log_count(n), n == 0 ? 0.0 : 1.0}};
    }
    /// The sum of the terms of N that are small. Sums of integers are exact in any order.
    template <int N, class At>
    KOLMO_HD Sums<3> plain_sum(const At& at) const {
      std::uint32_t total = 0, nonzero = 0;
      double log_sum = 0;
      for (int i = 0; i < N; ++i) {
        const std::uint32_t n = small(at(i));
        total += n, nonzero += n < 1 ? n : 1, log_sum = exact_add(log_sum, count_log_count(n));
      }
      return {{double(total), log_sum, double(nonzero)}};
    }
    KOLMO_HD Sums<3> operator()(std::int64_t i) const { return of(fetch(i)); }
  };
  KOLMO_HD Row operator()(std::int64_t row) const { return {weight + row * k}; }
  bool packed(std::int64_t rows) const { return packed_rows<T>(rows, k, weight); }
};

/// Entropy from the sums of WeightRows. Counts: ln N - (sum w ln w) / N with N = sum w, and 0 for a single
/// weight. Miller-Madow adds (K - 1) / (2 N) with K the number of w > 0. Probabilities: - sum w ln w.
struct EntropyOfRow {
  double* entropy;
  bool counts, miller_madow;
  Status status = {};

  KOLMO_HD void operator()(std::int64_t row, const Sums<3>& s) const {
    const double total = s.value[0], log_sum = s.value[1], nonzero = s.value[2];
    report_weights(status, row, log_sum, counts ? total : 1);
    double h = 0 - log_sum;
    if (counts) {
      h = not_below_zero(exact_add(log_exact(total), -(log_sum / total)));
      if (nonzero == 1 && h == h) h = 0;
      if (miller_madow) h = exact_add(h, (nonzero - 1) / exact_mul(2, total));
    }
    entropy[row] = one_nan(h);
  }
};

/// p ln(p / q); 0 for p = 0, inf for q = 0 < p, NaN when either is negative or NaN, or is infinite and p is not 0.
KOLMO_HD constexpr double divergence_term(double p, double q) {
  double over = p, under = q;
  int k = 0;
  if (!(is_moderate(p) && is_moderate(q))) {
    if (!(p >= 0 && q >= 0)) return std::numeric_limits<double>::quiet_NaN();
    if (p == 0) return 0;
    if (!(p - p == 0 && q - q == 0)) return std::numeric_limits<double>::quiet_NaN();
    if (q == 0) return std::numeric_limits<double>::infinity();
    const auto nearer_to_1 = [](double& x) {
      const int by = x < 0x1p-450 ? 624 : x < 0x1p450 ? 0 : -624;
      x = by == 0 ? x : exact_mul(x, by > 0 ? 0x1p624 : 0x1p-624);
      return by;
    };
    k = nearer_to_1(under) - nearer_to_1(over);
  }
  return exact_mul(p, log_scaled(exact_quotient(over, under), k));
}
/// The same where both are moderate.
KOLMO_HD constexpr double plain_divergence_term(double p, double q) {
  return exact_mul(p, log_scaled(exact_quotient(p, q), 0));
}
/// Whether it is that for the p and q of at(0) ... at(N - 1).
template <int N, class At>
KOLMO_HD bool are_plain_divergences(const At& at) {
  if (N > 1 && !are_plain_divergences<1>(at)) return false;  // often the first one tells
  bool all = true;
  for (int i = 0; i < N; ++i) {
    const auto x = at(i);
    all = all & is_moderate(double(x.p)) & is_moderate(double(x.q));
  }
  return all;
}
template <class T>
struct DivergenceRows {
  using Element = T;
  const T *p, *q;
  std::int64_t k;

  struct Row {
    static constexpr int arrays = 2;
    const T *p, *q;
    struct Pair {
      T p, q;
    };
    template <int W>
    struct Pairs {
      Pack<T, W> p, q;
      KOLMO_HD Pair operator[](int w) const { return {p.value[w], q.value[w]}; }
    };
    KOLMO_HD Pair fetch(std::int64_t i) const { return {p[i], q[i]}; }
    template <int W>
    KOLMO_HD Pairs<W> fetch_pack(std::int64_t i) const {
      return {load_pack<W>(p + i), load_pack<W>(q + i)};
    }
    KOLMO_HD Sums<1> of(const Pair& x) const { return {{divergence_term(double(x.p), double(x.q))}}; }
    /// Whether of_plain() gives the terms of all, without a branch between them.
    template <int N, class At>
    KOLMO_HD static bool are_plain(const At& at) {
      return are_plain_divergences<N>(at);
    }
    KOLMO_HD Sums<1> of_plain(const Pair& x) const {
      return {{plain_divergence_term(double(x.p), double(x.q))}};
    }
    KOLMO_HD Sums<1> operator()(std::int64_t i) const { return of(fetch(i)); }
  };
  KOLMO_HD Row operator()(std::int64_t row) const { return {p + row * k, q + row * k}; }
  bool packed(std::int64_t rows) const { return packed_rows<T>(rows, k, p, q); }
};

struct DivergenceOfRow {
  double* divergence;
  Status status = {};
  KOLMO_HD void operator()(std::int64_t row, const Sums<1>& s) const {
    if (s.value[0] != s.value[0]) status.report(0, row);
    divergence[row] = one_nan(s.value[0]);
  }
};

/// Stores the sums of a row.
template <int N>
struct StoreSums {
  Sums<N>* to;
  KOLMO_HD void operator()(std::int64_t row, const Sums<N>& s) const { to[row] = s; }
};

/// Column sums of pieces of at most rows_at_a_time rows of tables of shape (bx, by). Row (table * pieces + p) * by + y of the
/// job is column y of a table's piece p. T may be Sums<1>, for the pieces of pieces.
template <class T>
struct ColumnPieces {
  static constexpr int rows_at_a_time = 32;
  const T* x;
  std::int64_t bx, by, pieces;

  struct Row {
    const T* x;
    std::int64_t step;
    int count;
    KOLMO_HD Sums<1> of(const T& w) const {
      if constexpr (std::is_same_v<T, Sums<1>>)
        return w;
      else
        return {{double(w)}};
    }
    KOLMO_HD Sums<1> operator()(std::int64_t i) const { return i < count ? of(x[i * step]) : Sums<1>{}; }
  };
  KOLMO_HD Row operator()(std::int64_t row) const {
    const std::int64_t piece = quotient(row, by), table = quotient(piece, pieces),
                       first = (piece - table * pieces) * rows_at_a_time, left = bx - first;
    return {x + (table * bx + first) * by + (row - piece * by), by,
            int(left < rows_at_a_time ? left : rows_at_a_time)};
  }
};

/// The contribution of each row (i < bx) and then of each of the `by` columns of a table to its entropies:
/// sum w; sum_x (w_x ln w_x - sum_y w_xy ln w_xy); bins minus rows > 0; sum_y w_y ln w_y; columns > 0.
struct TableMargins {
  const Sums<3>* rows;
  const Sums<1>* columns;
  std::int64_t bx, by;

  struct Row {
    const Sums<3>* rows;
    const Sums<1>* columns;
    std::int64_t bx;
    /// The sums of a row; of a column its total, with a count below 0.
    KOLMO_HD Sums<3> fetch(std::int64_t i) const {
      return i < bx ? rows[i] : Sums<3>{{columns[i - bx].value[0], 0, -1}};
    }
    KOLMO_HD Sums<5> of(const Sums<3>& margin) const {
      const auto& [total, log_sum, nonzero] = margin.value;
      const double term = x_log_x(total), above = double(total > 0);
      return nonzero < 0 ? Sums<5>{{0, 0, 0, term, above}}
                         : Sums<5>{{total, exact_add(term, -log_sum), nonzero - above, 0, 0}};
    }
    KOLMO_HD Sums<5> operator()(std::int64_t i) const { return of(fetch(i)); }
  };
  KOLMO_HD Row operator()(std::int64_t table) const { return {rows + table * bx, columns + table * by, bx}; }
};

/// H(Y|X) = sum_x (w_x ln w_x - sum_y w_xy ln w_xy) / N; Miller-Madow adds (K_xy - K_x) / (2 N).
struct ConditionalEntropyOfTable {
  double* entropy;
  bool miller_madow;
  Status status = {};

  KOLMO_HD void operator()(std::int64_t table, const Sums<5>& s) const {
    report_weights(status, table, s.value[1], s.value[0]);
    const double h = not_below_zero(s.value[1] / s.value[0]);
    entropy[table] = one_nan(miller_madow ? exact_add(h, s.value[2] / exact_mul(2, s.value[0])) : h);
  }
};

/// I(X;Y) = H(Y) - H(Y|X); Miller-Madow adds (K_x + K_y - K_xy - 1) / (2 N).
struct MutualInformationOfTable {
  double* information;
  bool miller_madow;
  Status status = {};

  KOLMO_HD void operator()(std::int64_t table, const Sums<5>& s) const {
    const auto& [total, conditional, bins_less_rows, column_log_sum, columns] = s.value;
    report_weights(status, table, conditional, total);
    const double mi =
        not_below_zero(exact_add(log_exact(total), -exact_add(column_log_sum, conditional) / total));
    const double correction = (columns - 1 - bins_less_rows) / exact_mul(2, total);
    information[table] = one_nan(miller_madow ? exact_add(mi, correction) : mi);
  }
};

/// Leading dimensions flattened to a number of tables, and the rows and columns of each.
struct TableShape {
  std::int64_t tables = 1, bx, by;

  TableShape(std::int64_t t, std::int64_t x, std::int64_t y) : tables(t), bx(x), by(y) {}
  TableShape(int rank, const std::int64_t* extent) : bx(extent[rank - 2]), by(extent[rank - 1]) {
    for (int d = 0; d < rank - 2; ++d) tables *= extent[d];
  }
};

/// Scratch memory of sum_tables: sums of all rows and columns, partial sums of long rows, and two lists of sums of pieces.
struct TableScratch {
  Sums<3>*rows, *row_parts;
  Sums<1>*columns, *pieces[2];
  Sums<5>* table_parts;

  TableScratch(Arena& arena, const TableShape& shape)
      : rows(arena.take<Sums<3>>(shape.tables * shape.bx)),
        row_parts(take_partial_sums<3>(arena, shape.tables * shape.bx, shape.by)),
        columns(arena.take<Sums<1>>(shape.tables * shape.by)),
        table_parts(take_partial_sums<5>(arena, shape.tables, shape.bx + shape.by)) {
    std::int64_t rows_left = shape.bx;
    for (auto& list : pieces) {
      rows_left = pieces_of(rows_left);
      list = arena.take<Sums<1>>(rows_left > 1 ? shape.tables * rows_left * shape.by : 0);
    }
  }
  static std::int64_t pieces_of(std::int64_t rows) {
    constexpr int each = ColumnPieces<double>::rows_at_a_time;
    return rows <= each ? 1 : (rows + each - 1) / each;
  }
};

/// The column sums of x of the shape. Sums of pieces go to the list named, from which they are summed likewise.
template <class T, class Run>
void sum_columns(const T* x, const TableShape& shape, const TableScratch& scratch, int list, const Run& run) {
  const auto [tables, bx, by] = shape;
  const std::int64_t pieces = scratch.pieces_of(bx);
  Sums<1>* const to = pieces == 1 ? scratch.columns : scratch.pieces[list];
  sum_rows<1>(ColumnPieces<T>{x, bx, by, pieces}, StoreSums<1>{to}, tables * pieces * by,
              std::min<std::int64_t>(bx, ColumnPieces<T>::rows_at_a_time), nullptr, run);
  if (pieces > 1) sum_columns(to, TableShape{tables, pieces, by}, scratch, 1 - list, run);
}

/// Calls done(table, sums of TableMargins) for every table; `run` is that of sum_rows.
template <bool WithColumns, class T, class Done, class Run>
void sum_tables(const T* weight, const TableShape& shape, const Done& done, const TableScratch& scratch,
                const Run& run) {
  const auto [tables, bx, by] = shape;
  sum_rows<3>(WeightRows<T>{weight, by}, StoreSums<3>{scratch.rows}, tables * bx, by, scratch.row_parts, run);
  if constexpr (WithColumns) sum_columns(weight, shape, scratch, 0, run);
  const TableMargins margins{scratch.rows, scratch.columns, bx, WithColumns ? by : 0};
  sum_rows<5>(margins, done, tables, bx + margins.by, scratch.table_parts, run);
}

}  // namespace kolmo
