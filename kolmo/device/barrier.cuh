#pragma once
// Barriers in shared memory that count arrivals and bytes, and clusters of blocks, from compute capability
// 9.0 on. Addresses are 32-bit addresses of shared memory (shared_address). The file is empty for other
// architectures. Source: PTX ISA 9.0, sections on mbarrier and barrier.cluster.
#include <cstdint>

namespace kolmo::cuda {
namespace {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ inline std::uint32_t shared_address(const void* p) {
  return std::uint32_t(__cvta_generic_to_shared(p));
}

/// Makes a barrier. A phase of it ends after `arrivals` arrivals and once the expected bytes have been
/// copied; the next phase, of the other parity, then begins.
__device__ inline void make_barrier(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
/// Makes new barriers visible to the cluster and to the copy engine.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Arrives, and adds to the number of bytes that the phase waits for.
__device__ inline void expect_bytes(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Waits until the phase of this parity has ended. With OfCluster, the thread then sees what other blocks of
/// the cluster stored.
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
/// Waits for all threads of all blocks of the cluster. Each of them then sees what the others wrote.
__device__ inline void meet_cluster() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

#endif

}  // namespace
}  // namespace kolmo::cuda
