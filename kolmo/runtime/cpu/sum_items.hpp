#pragma once
#include <type_traits>

#include "kolmo/base/row_terms.hpp"
#include "kolmo/base/sums.hpp"
#include "kolmo/runtime/cpu/convert.hpp"
#include "kolmo/runtime/cpu/lane_sums.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo {

/// Runs a job (base/sums.hpp) on the CPU. `terms`, the number of terms of the longest sum, determines how
/// many items a thread takes at once.
struct SumItems {
  int threads;
  template <class Job>
  void operator()(const Job& job, std::int64_t items, std::int64_t terms) const {
    constexpr std::int64_t terms_at_a_time = 1 << 15;
    const std::int64_t grain = std::max<std::int64_t>(1, terms_at_a_time / std::max<std::int64_t>(1, terms));
    parallel_for(threads, (items + grain - 1) / grain, [&](std::int64_t part, int) {
      for (std::int64_t i = part * grain, end = std::min(items, i + grain); i < end; ++i)
        job.finish(i, sum<Job::sums>(job.terms(i)));
    });
  }

 private:
  template <class Row>
  using Element = std::remove_cvref_t<decltype(*Row::x)>;
  template <class Terms, template <class> class Rows, class... T>
  static constexpr bool are() {
    if constexpr (requires(const Terms& t) { t.row; })
      return (std::is_same_v<decltype(Terms::row), typename Rows<T>::Row> || ...);
    else
      return false;
  }
  template <int N, class Terms>
  static Sums<N> sum(const Terms& t) {
    const std::int64_t n = t.count;
    // 16-bit elements are first converted to floats, which have the same sums.
    if constexpr (are<Terms, ValueRows, double, float, Half, BFloat16>()) {
      const Widened<Element<decltype(t.row)>, sum_chunk> x(t.row.x + t.first, n);
      return {{vector_lane_sum(x.data(), n)}};
    } else if constexpr (are<Terms, ProductRows, double, float, Half, BFloat16>()) {
      const Widened<Element<decltype(t.row)>, sum_chunk> x(t.row.x + t.first, n), y(t.row.y + t.first, n);
      return {{vector_lane_sum(x.data(), y.data(), n)}};
    } else {
      return lane_sum<N>(t, n);
    }
  }
};

}  // namespace kolmo
