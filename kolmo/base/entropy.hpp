#pragma once
// Terms of entropy-like sums over non-negative weights (counts or probabilities), in nats, with the same bits
// on every device. Terms are not checked one by one: a negative or NaN weight makes the sums of its row NaN,
// and the sums are checked in the end.
#include <limits>
#include <string_view>
#include <type_traits>

#include "kolmo/base/log.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/base/sums.hpp"

namespace kolmo {

namespace detail {

/// Counts below this number are small: a table of rounded values holds their n ln n.
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

/// Converts a small integer, which x + 2^52 has in its last bits. This and the way back are cheaper than
/// conversions. Other numbers give any result.
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
/// n ln n of a small count.
KOLMO_HD constexpr double count_log_count(std::uint32_t n) {
  return KOLMO_OF_SIDE(detail::count_table, detail::count_table_on_gpu).value[n];
}

/// x ln x; 0 for x = 0, NaN for x < 0. Small counts are looked up. The code that computes others stands once
/// in a kernel.
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

/// The faults that report_weights reports, for operators on weights.
inline constexpr std::string_view weight_faults[] = {"weights are negative, not finite or too large to sum",
                                                     "weights sum to 0"};

/// Reports a row whose sums cannot be used: `log_sum` of terms w ln w is not finite, or `total`, by which the
/// operator divides, is 0.
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
    /// Whether at(0) ... at(N - 1) are all small counts. If they are, of_plain() looks up their terms without
    /// a branch between them.
    template <int N, class At>
    KOLMO_HD static bool are_plain(const At& at) {
      if constexpr (std::is_integral_v<T>) {
        std::make_unsigned_t<T> any = 0;
        for (int i = 0; i < N; ++i) any |= std::make_unsigned_t<T>(at(i));
        return any < detail::small_counts;
      } else {
        if (N > 1 && !are_plain<1>(at)) return false;  // often the first one is enough to tell
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
    /// Converts a weight that is a small count.
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
    /// Adds the terms of N weights that are small counts. Their total and the number of those above 0 are
    /// exact in any order.
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
/// p ln(p / q) if both are moderate numbers.
KOLMO_HD constexpr double plain_divergence_term(double p, double q) {
  return exact_mul(p, log_scaled(exact_quotient(p, q), 0));
}
/// Whether plain_divergence_term serves for the p and q of at(0) ... at(N - 1).
template <int N, class At>
KOLMO_HD bool are_plain_divergences(const At& at) {
  if (N > 1 && !are_plain_divergences<1>(at)) return false;  // often the first one is enough to tell
  bool all = true;
  for (int i = 0; i < N; ++i) {
    const auto x = at(i);
    all = all & is_moderate(double(x.p)) & is_moderate(double(x.q));
  }
  return all;
}

}  // namespace kolmo
