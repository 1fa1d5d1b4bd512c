#pragma once
// Clusters of blocks that write to each other's shared memory, from compute capability 9.0 on. Elsewhere, and on the
// emulated GPU, every block is a cluster of its own. Anonymous namespace: see device/grid.cuh.
#include <bit>
#include <cstdint>

#include "kolmo/base/pack.hpp"
#include "kolmo/device/barrier.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ inline int cluster_size() {
  unsigned n;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
  return int(n);
}
/// A block may write to another's memory once both have announced that they run: first announce_block(), then, before
/// the first store, await_blocks().
__device__ inline void announce_block() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
__device__ inline void await_blocks() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
__device__ inline std::uint32_t address_in(int rank, const void* p) {
  std::uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(p)), "r"(rank));
  return there;
}
/// *p = value at the same place of the shared memory of block `rank`, which sees it after meet_cluster().
template <class T>
__device__ void cluster_store(T* p, int rank, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  const std::uint32_t there = address_in(rank, p);
  if constexpr (sizeof(T) == 4)
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(std::bit_cast<unsigned>(value))
                 : "memory");
  else if constexpr (sizeof(T) == 8)
    asm volatile("st.shared::cluster.u64 [%0], %1;" ::"r"(there),
                 "l"(std::bit_cast<unsigned long long>(value))
                 : "memory");
  else {
    const auto words = std::bit_cast<Pack<std::uint32_t, 4>>(value);
    asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(there), "r"(words.value[0]),
                 "r"(words.value[1]), "r"(words.value[2]), "r"(words.value[3])
                 : "memory");
  }
}
#else
__device__ inline int block_in_cluster() { return 0; }
__device__ inline int cluster_size() { return 1; }
__device__ inline void meet_cluster() { __syncthreads(); }
__device__ inline void announce_block() {}
__device__ inline void await_blocks() {}
template <class T>
__device__ void cluster_store(T* p, int, T value) {
  *p = value;
}
#endif

#ifdef SIMT
/// Whether clusters of this size with `shared` bytes in each block can run on a device.
template <class Kernel>
bool clusters_fit(int, Kernel, int, int, std::size_t) {
  return false;
}
template <class... P, class... A>
void launch_clusters(void (*)(P...), int, unsigned, int, std::size_t, cudaStream_t, A&&...) {
  fail<Unsupported>("simt: has no clusters");
}
#else
inline cudaLaunchConfig_t cluster_config(cudaLaunchAttribute& size_of_cluster, int size, unsigned clusters,
                                         int block, std::size_t shared, cudaStream_t stream) {
  size_of_cluster.id = cudaLaunchAttributeClusterDimension;
  size_of_cluster.val.clusterDim.x = unsigned(size);
  size_of_cluster.val.clusterDim.y = size_of_cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(clusters * unsigned(size)), config.blockDim = dim3(unsigned(block));
  config.dynamicSmemBytes = shared, config.stream = stream;
  config.attrs = &size_of_cluster, config.numAttrs = 1;
  return config;
}
template <class Kernel>
bool allow_clusters(Kernel* kernel, std::size_t shared) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)) ==
             cudaSuccess &&
         cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess;
}
/// The same; the device is the current one. A driver may translate code for compute capability 8, which knows no clusters.
template <class Kernel>
bool clusters_fit(int device, Kernel* kernel, int size, int block, std::size_t shared) {
  int major = 0, count = 0;
  cudaFuncAttributes code{};
  cudaLaunchAttribute attribute{};
  const cudaLaunchConfig_t config = cluster_config(attribute, size, 1, block, shared, nullptr);
  const bool fit = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
                   major >= 9 && cudaFuncGetAttributes(&code, kernel) == cudaSuccess &&
                   code.ptxVersion >= 90 && allow_clusters(kernel, shared) &&
                   cudaOccupancyMaxActiveClusters(&count, kernel, &config) == cudaSuccess && count > 0;
  if (!fit) (void)cudaGetLastError();  // the next launch would report it
  return fit;
}
/// Starts a kernel on clusters of `size` blocks.
template <class... P, class... A>
void launch_clusters(void (*kernel)(P...), int size, unsigned clusters, int block, std::size_t shared,
                     cudaStream_t stream, A&&... args) {
  if (logged(reinterpret_cast<const void*>(kernel), dim3(clusters * unsigned(size)), dim3(unsigned(block)),
             shared))
    return;
  cudaLaunchAttribute attribute{};
  const cudaLaunchConfig_t config = cluster_config(attribute, size, clusters, block, shared, stream);
  if (!allow_clusters(kernel, shared)) check_launch(cudaGetLastError());
  check_launch(cudaLaunchKernelEx(&config, kernel, P(std::forward<A>(args))...));
}
#endif

}  // namespace
}  // namespace kolmo::cuda
