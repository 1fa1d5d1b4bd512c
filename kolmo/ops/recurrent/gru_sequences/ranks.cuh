#pragma once
// A rank is a group of threads with its own piece of shared memory. Ranks work together. They are parts of a
// block, the blocks of a cluster (compute capability 9.0), or all blocks of a grid. All kinds of ranks have
//   rank(), count()           which rank this thread belongs to, and of how many
//   thread()                  its number among the `threads` of the rank
//   group(), groups()         which group of ranks this is, and how many the grid has
//   memory(bytes)             the rank's piece of the dynamic shared memory; every rank has `bytes` of it
//   sync_rank()               waits for all threads of this rank
// All except those of a grid, whose blocks cannot write to each other's memory, also have
//   store(p, rank, value)     *p = value at the same place of another rank's piece, or of the own; seen after sync()
//   sync()                    waits for all threads of all ranks
// All threads call sync() and sync_rank() in the same order. If `counts`, an exchange need not wait for all threads:
//   make(barrier)             makes a barrier in shared memory; to be called before the first sync()
//   expect(barrier, bytes)    begins a phase of the rank's own barrier, which ends once so many bytes have come
//   store(p, rank, value, b)  stores as above; the barrier b of the other rank counts the bytes
//   wait(barrier, parity)     waits until all bytes of the phase have come
//   before_sharing()          waits for what the rank's threads have stored, which may then be shared
//   share(p, bytes, b)        sends what is stored at p, bytes of a multiple of 16, to the same place of all other ranks, whose barriers b
//                             count it; all threads of the rank call it
//   wait_for_shares(barrier, parity)  waits for what others share
// In a grid (`by_words`) values pass through global memory:
//   send(place, value, exchange)      sends to all ranks. Nothing more may be sent to a place before all have gathered it.
//   gather(to, n, place, exchange)    waits for what is sent to place + i in this exchange, and stores it in to[i], i < n
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kolmo/device/barrier.cuh"
#include "kolmo/device/multiprocessors.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

template <int Count, int Threads>
struct BlockRanks {
  static constexpr bool counts = false, by_words = false;
  static constexpr int threads = Threads, block = Count * Threads;
  std::size_t bytes = 0;

  __device__ int rank() const { return int(threadIdx.x) / Threads; }
  __device__ int count() const { return Count; }
  __device__ int thread() const { return int(threadIdx.x) % Threads; }
  __device__ std::int64_t group() const { return blockIdx.x; }
  __device__ std::int64_t groups() const { return gridDim.x; }
  __device__ unsigned char* memory(std::size_t size) {
    bytes = size;
    return dynamic_shared<unsigned char>() + std::size_t(rank()) * size;
  }
  template <class T>
  __device__ void store(T* p, int to, T value) const {
    unsigned char* const own = reinterpret_cast<unsigned char*>(p);
    *reinterpret_cast<T*>(own + (to - rank()) * std::ptrdiff_t(bytes)) = value;
  }
  template <class T>
  __device__ void store(T* p, int to, T value, std::uint64_t*) const {
    store(p, to, value);
  }
  __device__ void before_sharing() const { __syncthreads(); }
  __device__ void share(float*, int, std::uint64_t*) const { static_assert(Count == 1); }
  __device__ void sync() const { __syncthreads(); }
  __device__ void sync_rank() const { __syncthreads(); }
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ inline int cluster_size() {
  unsigned n;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
  return int(n);
}
__device__ inline std::uint32_t address_in(int rank, const void* p) {
  std::uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(p)), "r"(rank));
  return there;
}
/// Makes what this thread stored in shared memory visible to copies that start after a barrier of the block.
__device__ inline void show_to_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/// Starts copying bytes at p to the same place of another rank, whose barrier counts them.
__device__ inline void copy_to_rank(const void* p, int bytes, int rank, std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          address_in(rank, p)),
      "r"(shared_address(p)), "r"(bytes), "r"(address_in(rank, barrier))
      : "memory");
}
template <class T>
__device__ void cluster_store(T* p, int rank, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  const std::uint32_t there = address_in(rank, p);
  if constexpr (sizeof(T) == 4)
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(std::bit_cast<unsigned>(value))
                 : "memory");
  else
    asm volatile("st.shared::cluster.u64 [%0], %1;" ::"r"(there),
                 "l"(std::bit_cast<unsigned long long>(value))
                 : "memory");
}
template <class T>
__device__ void counted_store(T* p, int rank, T value, std::uint64_t* barrier) {
  if constexpr (sizeof(T) == 4)
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                     address_in(rank, p)),
                 "r"(std::bit_cast<unsigned>(value)), "r"(address_in(rank, barrier))
                 : "memory");
  else
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];" ::"r"(
                     address_in(rank, p)),
                 "l"(std::bit_cast<unsigned long long>(value)), "r"(address_in(rank, barrier))
                 : "memory");
}
#else  // kernels with it are never launched, as clusters_fit() is false
__device__ inline std::uint32_t shared_address(const void*) { return 0; }
__device__ inline void make_barrier(std::uint32_t, int) {}
__device__ inline void publish_barriers() {}
__device__ inline void expect_bytes(std::uint32_t, int) {}
template <bool OfCluster>
__device__ void wait_for(std::uint32_t, int) {}
__device__ inline int block_in_cluster() { return 0; }
__device__ inline int cluster_size() { return 1; }
__device__ inline void meet_cluster() {}
__device__ inline void show_to_copies() {}
__device__ inline void copy_to_rank(const void*, int, int, std::uint64_t*) {}
template <class T>
__device__ void cluster_store(T*, int, T) {}
template <class T>
__device__ void counted_store(T*, int, T, std::uint64_t*) {}
#endif

template <int Threads>
struct ClusterRanks {
  static constexpr bool counts = true, by_words = false;
  static constexpr int threads = Threads, block = Threads;

  __device__ int rank() const { return block_in_cluster(); }
  __device__ int count() const { return cluster_size(); }
  __device__ int thread() const { return int(threadIdx.x); }
  __device__ std::int64_t group() const { return blockIdx.x / unsigned(cluster_size()); }
  __device__ std::int64_t groups() const { return gridDim.x / unsigned(cluster_size()); }
  __device__ unsigned char* memory(std::size_t) const { return dynamic_shared<unsigned char>(); }
  template <class T>
  __device__ void store(T* p, int to, T value) const {
    cluster_store(p, to, value);
  }
  template <class T>
  __device__ void store(T* p, int to, T value, std::uint64_t* barrier) const {
    counted_store(p, to, value, barrier);
  }
  __device__ void make(std::uint64_t* barrier) const {
    make_barrier(shared_address(barrier), 1);
    publish_barriers();
  }
  __device__ void expect(std::uint64_t* barrier, int bytes) const {
    expect_bytes(shared_address(barrier), bytes);
  }
  __device__ void wait(std::uint64_t* barrier, int parity) const {
    wait_for<true>(shared_address(barrier), parity);
  }
  __device__ void wait_for_shares(std::uint64_t* barrier, int parity) const {
    wait_for<false>(shared_address(barrier), parity);  // nothing but copies to shared memory is waited for
  }
  __device__ void sync() const { meet_cluster(); }
  __device__ void before_sharing() const {
    show_to_copies();
    __syncthreads();
  }
  /// A warp sends to a rank, so there must not be more ranks than warps.
  __device__ void share(float* p, int bytes, std::uint64_t* barrier) const {
    const int of_warp = thread() / 32;
    if (thread() % 32 == 0 && of_warp < count() && of_warp != rank())
      copy_to_rank(p, bytes, of_warp, barrier);
  }
  __device__ void sync_rank() const { __syncthreads(); }
};

/// The ranks are blocks that run at once (launch_together). A word holds the bits of a float and the number
/// of its exchange, which is above 0; before the first exchange it is 0. A word is read and written as a
/// whole, so values need no barrier.
template <int Threads>
struct GridRanks {
  static constexpr bool counts = false, by_words = true;
  static constexpr int threads = Threads, block = Threads;
  volatile std::uint64_t* words = nullptr;

  __device__ int rank() const { return int(blockIdx.x); }
  __device__ int count() const { return int(gridDim.x); }
  __device__ int thread() const { return int(threadIdx.x); }
  __device__ std::int64_t group() const { return 0; }
  __device__ std::int64_t groups() const { return 1; }
  __device__ unsigned char* memory(std::size_t) const { return dynamic_shared<unsigned char>(); }
  __device__ void send(int place, float value, unsigned exchange) const {
    words[place] = std::uint64_t(exchange) << 32 | std::bit_cast<unsigned>(value);
  }
  __device__ void gather(float* to, int n, int place, unsigned exchange) const {
    constexpr int together = 4;
    for (int first = thread(); first < n; first += together * Threads) {
      std::uint64_t word[together];
      bool come = false;
      while (!come) {
        come = true;
#pragma unroll
        for (int k = 0; k < together; ++k) word[k] = words[place + min(first + k * Threads, n - 1)];
#pragma unroll
        for (int k = 0; k < together; ++k) come = come && unsigned(word[k] >> 32) == exchange;
      }
#pragma unroll
      for (int k = 0; k < together; ++k)
        if (first + k * Threads < n) to[first + k * Threads] = std::bit_cast<float>(unsigned(word[k]));
    }
  }
  __device__ void sync() const { __syncthreads(); }
  __device__ void sync_rank() const { __syncthreads(); }
};

#ifdef SIMT
/// Whether a block of a device may have so much shared memory.
inline bool block_may_have(int, std::size_t shared) { return shared <= 227 * 1024; }
/// How many blocks of a kernel can run at once on a device and wait for each other; 0: they cannot.
template <class Kernel>
int blocks_together(int, Kernel*, int, std::size_t) {
  return 0;
}
template <class... P, class... A>
void launch_together(void (*)(P...), unsigned, int, std::size_t, cudaStream_t, A&&...) {
  fail<Unsupported>("simt: has no cooperative launch");
}
/// The emulated GPU runs no cluster.
template <class Kernel>
int clusters_at_once(int, Kernel, int, int, std::size_t) {
  return 0;
}
template <class... P, class... A>
void launch_clusters(void (*)(P...), int, unsigned, int, std::size_t, cudaStream_t, A&&...) {
  fail<Unsupported>("simt: has no clusters");
}
#else
/// Whether a block of a device may have so much shared memory.
inline bool block_may_have(int device, std::size_t shared) {
  int most = 0;
  if (cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess)
    return shared <= std::size_t(most);
  (void)cudaGetLastError();  // the next launch would report it
  return false;
}
/// How many blocks of a kernel can run at once on a device, which is the current one, and wait for each other; 0: they cannot.
template <class Kernel>
int blocks_together(int device, Kernel* kernel, int block, std::size_t shared) {
  int may = 0, each = 0;
  const bool known =
      cudaDeviceGetAttribute(&may, cudaDevAttrCooperativeLaunch, device) == cudaSuccess &&
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)) == cudaSuccess &&
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, block, shared) == cudaSuccess;
  if (!known) (void)cudaGetLastError();  // the next launch would report it
  return known && may ? each * multiprocessors(device) : 0;
}
/// Starts a kernel all of whose blocks run at once.
template <class... P, class... A>
void launch_together(void (*kernel)(P...), unsigned blocks, int block, std::size_t shared,
                     cudaStream_t stream, A&&... args) {
  if (logged(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(unsigned(block)), shared)) return;
  allow_shared(kernel, shared);
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks), config.blockDim = dim3(unsigned(block));
  config.dynamicSmemBytes = shared, config.stream = stream;
  config.attrs = &together, config.numAttrs = 1;
  check_launch(cudaLaunchKernelEx(&config, kernel, P(std::forward<A>(args))...));
}
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
/// Returns the number of clusters of this size, with `shared` bytes in each block, that run at once on a device, which must be the
/// current one. It is 0 if the device runs none.
template <class Kernel>
int clusters_at_once(int device, Kernel* kernel, int size, int block, std::size_t shared) {
  int major = 0, count = 0;
  cudaLaunchAttribute attribute{};
  const cudaLaunchConfig_t config = cluster_config(attribute, size, 1, block, shared, nullptr);
  const bool fit = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
                   major >= 9 && allow_clusters(kernel, shared) &&
                   cudaOccupancyMaxActiveClusters(&count, kernel, &config) == cudaSuccess;
  if (!fit) (void)cudaGetLastError();  // the next launch would report it
  return fit ? count : 0;
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
/// Whether such clusters can run on a device.
template <class Kernel>
bool clusters_fit(int device, Kernel kernel, int size, int block, std::size_t shared) {
  return clusters_at_once(device, kernel, size, block, shared) > 0;
}

}  // namespace
}  // namespace kolmo::cuda
