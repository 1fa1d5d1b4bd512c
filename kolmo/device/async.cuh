#pragma once
// Asynchronous copies from global to shared memory.
#include <cuda_pipeline_primitives.h>

namespace kolmo::cuda {
namespace {

/// Starts copying one T of 4, 8 or 16 bytes. Both addresses are aligned to its size. If `from` is null, zeros
/// are written instead.
template <class T>
__device__ inline void copy_async(T* to, const T* from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  __pipeline_memcpy_async(to, from, sizeof(T), from ? 0 : sizeof(T));
}
/// Starts the same copy; writes zeros if `there` is false. This is one instruction, where the function above
/// takes two and tests the pointer: it serves kernels whose speed is limited by the number of instructions
/// they issue.
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

/// Closes a group of copies. wait_copies<n>() returns once at most the last n groups of this thread are still
/// in flight.
__device__ inline void commit_copies() { __pipeline_commit(); }
template <int Pending>
__device__ inline void wait_copies() {
  __pipeline_wait_prior(Pending);
}

}  // namespace
}  // namespace kolmo::cuda
