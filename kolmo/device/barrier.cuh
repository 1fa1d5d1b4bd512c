#pragma once
// Barriers in shared memory that count arrivals and bytes, and clusters of blocks, from compute capability 9.0 on. Addresses
// are of shared memory, in its 32-bit window. Empty on other architectures. Source: PTX ISA 9.0, sections on mbarrier
// and barrier.cluster.
#include <cstdint>

namespace kolmo::cuda {
namespace {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ inline std::uint32_t shared_address(const void* p) {
  return std::uint32_t(__cvta_generic_to_shared(p));
}

/// A barrier is complete after `arrivals` arrivals and the bytes expected of copies; then its phase changes.
__device__ inline void make_barrier(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
/// Makes new barriers visible to the cluster and to the copy engine.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Arrives and adds to the bytes that the phase waits for.
__device__ inline void expect_bytes(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Waits until the phase of this parity is over; with OfCluster, what other blocks of the cluster stored is then seen.
template <bool OfCluster = false>
__device__ void wait_for(std::uint32_t barrier, int parity) {
  std::uint32_t over = 0;
  while (!over)
    if constexpr (OfCluster)
      asm volatile(
          "{\n.reg .pred over;\n"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%1], %2;\n"
          "selp.u32 %0, 1, 0, over;\n}"
          : "=r"(over)
          : "r"(barrier), "r"(parity)
          : "memory");
    else
      asm volatile(
          "{\n.reg .pred over;\n"
          "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
          "selp.u32 %0, 1, 0, over;\n}"
          : "=r"(over)
          : "r"(barrier), "r"(parity)
          : "memory");
}

__device__ inline int block_in_cluster() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// All threads of all blocks of the cluster, each of which then sees what the others wrote.
__device__ inline void meet_cluster() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

#endif

}  // namespace
}  // namespace kolmo::cuda
