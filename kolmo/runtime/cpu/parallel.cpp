#include "kolmo/runtime/cpu/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kolmo {

int hardware_threads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, int(std::thread::hardware_concurrency()));
}

void parallel_for(int threads, std::int64_t n, const std::function<void(std::int64_t, int)>& work) {
  threads = int(std::min<std::int64_t>(threads, n));
  if (threads <= 1) {
    for (std::int64_t i = 0; i < n; ++i) work(i, 0);
    return;
  }
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto serve = [&](int thread) {
    try {
      for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) work(i, thread);
    } catch (...) {
      next = n;
      const std::scoped_lock lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(serve, t);
    serve(0);
  }
  if (failure) std::rethrow_exception(failure);
}

void parallel_ranges(int threads, std::int64_t n,
                     const std::function<void(std::int64_t, std::int64_t)>& work) {
  constexpr std::int64_t range = 1 << 16;
  parallel_for(threads, (n + range - 1) / range,
               [&](std::int64_t i, int) { work(i * range, std::min(n, (i + 1) * range)); });
}

}  // namespace kolmo
