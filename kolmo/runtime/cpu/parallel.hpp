#pragma once
#include <cstdint>
#include <string>

#include "kolmo/base/function_ref.hpp"

namespace kolmo {

/// Number of cores that this process may use: those of its affinity mask, but at most the CPU quota of its
/// control groups at the first call, rounded up.
int hardware_threads();
/// The CPU quota of control groups version 2, in cores: the smallest `cpu.max` of `group` (a path below
/// `root`, such as "/a/b") and of the groups that contain it. 0 if there is no quota.
int cpu_quota(const std::string& root, const std::string& group);

/// Calls work(i, thread) once for every i in [0, n), on up to `threads` threads, with thread in [0, threads).
/// Items are handed out one at a time; each thread first gets those of its own part. The calling thread works
/// too. The others come from a pool of the process, and may be fewer while other callers use them. The first
/// exception is rethrown here after all threads have stopped. Any thread may call, also from inside `work`
/// and after a fork. Throws Interrupted, before the next item, if the caller is Interruptible and has asked
/// for that.
void parallel_for(int threads, std::int64_t n, FunctionRef<void(std::int64_t, int)> work);

/// Calls work(begin, end) for ranges of at most `range` items that partition [0, n), on up to `threads`
/// threads. It serves work that is cheap per element.
void parallel_ranges(int threads, std::int64_t n, FunctionRef<void(std::int64_t, std::int64_t)> work,
                     std::int64_t range = 1 << 16);

/// Number of threads that the pool has started in this process.
int pool_threads();

}  // namespace kolmo
