#pragma once
// Asynchronous copies from global to shared memory.
#include <cuda_pipeline_primitives.h>

#include <cstdint>

namespace kolmo::cuda {
namespace {

/// Starts copying one T of 4, 8 or 16 bytes, both sides aligned to its size; without `from`, zeros.
template <class T>
__device__ inline void copy_async(T* to, const T* from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  __pipeline_memcpy_async(to, from, sizeof(T), from ? 0 : sizeof(T));
}
/// The same; if it is not `there`, zeros. One instruction, where the other takes two and tests the pointer: for kernels
/// that are bound by their issue slots.
template <class T>
__device__ inline void copy_async(T* to, const T* from, bool there) {
#ifdef __CUDA_ARCH__
  const auto at = unsigned(__cvta_generic_to_shared(to));
  const unsigned bytes = there ? sizeof(T) : 0;
  if constexpr (sizeof(T) == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from), "n"(sizeof(T)),
                 "r"(bytes)
                 : "memory");
#else
  copy_async(to, there ? from : nullptr);
#endif
}

/// What the second cache gives up first, as it is read once; what it keeps longest, as it is read again; and what is read without a
/// policy, also for the last time of what was to be kept: else it would be kept on.
enum class Keep : std::uint8_t { once, again, ordinary };
struct CachePolicy {
  std::uint64_t bits = 0;
};
__device__ inline CachePolicy cache_policy([[maybe_unused]] Keep keep) {
  CachePolicy policy;
#ifdef __CUDA_ARCH__
  if (keep == Keep::once)
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy.bits));
  else if (keep == Keep::again)
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy.bits));
  else
    asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy.bits));
#endif
  return policy;
}
/// copy_async(to, from, there) of 16 bytes, with what to do with them in the second cache. In a loop that is not unrolled ptxas 13.0
/// made an illegal instruction of it, if all threads add the same to their addresses.
template <class T>
__device__ inline void copy_async(T* to, const T* from, bool there, [[maybe_unused]] CachePolicy policy) {
  static_assert(sizeof(T) == 16);
#ifdef __CUDA_ARCH__
  const auto at = unsigned(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(at), "l"(from),
               "r"(there ? 16u : 0u), "l"(policy.bits)
               : "memory");
#else
  copy_async(to, there ? from : nullptr);
#endif
}

/// Closes a group of copies. wait<n>() returns once at most the last n groups of this thread are still in
/// flight.
__device__ inline void commit_copies() { __pipeline_commit(); }
template <int Pending>
__device__ inline void wait_copies() {
  __pipeline_wait_prior(Pending);
}

}  // namespace
}  // namespace kolmo::cuda
