#pragma once
#include "kolmo/base/sums.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo {

/// Runs a job (base/sums.hpp) on the CPU. `terms` (of the longest sum) determines how many items a thread
/// takes at once.
struct SumItems {
  int threads;
  template <class Job>
  void operator()(const Job& job, std::int64_t items, std::int64_t terms) const {
    constexpr std::int64_t terms_at_a_time = 1 << 15;
    const std::int64_t grain = std::max<std::int64_t>(1, terms_at_a_time / std::max<std::int64_t>(1, terms));
    parallel_for(threads, (items + grain - 1) / grain, [&](std::int64_t part, int) {
      for (std::int64_t i = part * grain, end = std::min(items, i + grain); i < end; ++i)
        job.finish(i, lane_sum<Job::sums>(job.terms(i), job.length(i)));
    });
  }
};

}  // namespace kolmo
