#pragma once
#include <cstdint>
#include <functional>

namespace kolmo {

/// Cores this process may use (affinity mask and container limits respected).
int hardware_threads();

/// Calls work(i, thread) for every i in [0, n), each once, on up to `threads` threads (thread in [0,
/// threads)). Items are handed out one at a time; the first exception is rethrown here after all threads have
/// stopped.
void parallel_for(int threads, std::int64_t n, const std::function<void(std::int64_t, int)>& work);

/// Calls work(begin, end) for ranges that together are [0, n), on up to `threads` threads: for cheap work on
/// each of many elements.
void parallel_ranges(int threads, std::int64_t n,
                     const std::function<void(std::int64_t, std::int64_t)>& work);

}  // namespace kolmo
