#pragma once
// Kernels all of whose blocks run at once, so that they can wait for each other. The emulated GPU has a grid of one
// block for them. Anonymous namespace: see device/grid.cuh.
#include <bit>
#include <utility>

#include "kolmo/base/atomic.hpp"
#include "kolmo/base/sums.hpp"
#include "kolmo/runtime/cuda/launch.cuh"
#ifndef SIMT
#include <cooperative_groups.h>

#include "kolmo/runtime/cuda/tensor_copies.hpp"
#endif

namespace kolmo::cuda {
namespace {

#ifdef SIMT
/// How many blocks can run at once on a device, which is the current one; 0: they cannot wait for each other.
template <class Kernel>
int blocks_together(int, Kernel*, int, std::size_t) {
  return 1;
}
/// Starts a kernel all of whose blocks run at once.
template <class... P, class... A>
void launch_together(void (*kernel)(P...), unsigned blocks, int block, std::size_t shared,
                     cudaStream_t stream, A&&... args) {
  if (blocks > 1) fail<Unsupported>("simt: runs one block at once");
  cuda::launch(kernel, blocks, block, shared, stream, std::forward<A>(args)...);
}
/// Waits for all threads of a grid that launch_together started, and shows them what the others wrote before.
__device__ inline void meet_grid() { __syncthreads(); }
/// The same in two steps, between which a block does other work: it arrives, and later waits for the others.
struct Arrival {};
__device__ inline Arrival arrive_in_grid() { return {}; }
__device__ inline void wait_for_grid(Arrival) { __syncthreads(); }
#else
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
__device__ inline void meet_grid() { cooperative_groups::this_grid().sync(); }
using Arrival = cooperative_groups::grid_group::arrival_token;
__device__ inline Arrival arrive_in_grid() { return cooperative_groups::this_grid().barrier_arrive(); }
__device__ inline void wait_for_grid(Arrival arrival) {
  cooperative_groups::this_grid().barrier_wait(std::move(arrival));
}
#endif

// Numbers that blocks of such a grid leave for each other. Each says itself that it has come, so that a block waits for those
// that it needs and for no barrier after them: at first its place holds the bits of a NaN that is never left. The grid meets
// between empty_place and take, and the block between leave and take, as threads of the emulated GPU take turns.
constexpr Word no_number = ~Word(0);
__device__ inline void empty_place(Word* place) { atomic_write(place, no_number); }
__device__ inline void leave(Word* place, double x) { atomic_write(place, std::bit_cast<Word>(one_nan(x))); }
/// Waits for `count` numbers, of which number i is left at place(i); the others are 0. Every thread of a warp calls it, and waits
/// for its warp: else each would do alone, one after the other, what follows.
template <int N, class Place>
__device__ void take(double (&number)[N], int count, const Place& place) {
  Word word[N];
#pragma unroll
  for (int i = 0; i < N; ++i) word[i] = i < count ? no_number : 0;
  bool come;
  do {
    come = true;
#pragma unroll
    for (int i = 0; i < N; ++i)
      if (word[i] == no_number) word[i] = atomic_read(place(i));
#pragma unroll
    for (int i = 0; i < N; ++i) come &= word[i] != no_number;
  } while (!__all_sync(~0u, come));
#pragma unroll
  for (int i = 0; i < N; ++i) number[i] = std::bit_cast<double>(word[i]);
}

// The same for what has other types, in words of which one half says that the other has come. A part takes words_of<Part>.
template <class Part>
constexpr int words_of = int(sizeof(Part) / sizeof(std::uint32_t));
template <class Part>
constexpr std::int64_t bytes_of_parts(std::int64_t count) {
  return count * words_of<Part> * std::int64_t(sizeof(Word));
}
template <class Part>
struct HalfWords {
  std::uint32_t half[words_of<Part>];
};
constexpr Word has_come = Word(1) << 32;
template <class Part>
__device__ void empty_part(Word* place) {
  for (int i = 0; i < words_of<Part>; ++i) atomic_write(place + i, Word(0));
}
template <class Part>
__device__ void leave_part(Word* place, const Part& part) {
  const auto words = std::bit_cast<HalfWords<Part>>(part);
  for (int i = 0; i < words_of<Part>; ++i) atomic_write(place + i, has_come | words.half[i]);
}
/// Waits for a part, if there is one, else returns Part{}. Every thread of a warp calls it, as take().
template <class Part>
__device__ Part take_part(const Word* place, bool there) {
  auto words = std::bit_cast<HalfWords<Part>>(Part{});
  bool come;
  do {
    come = true;
#pragma unroll
    for (int i = 0; i < words_of<Part>; ++i) {
      if (!there) continue;
      const Word word = atomic_read(place + i);
      come &= word >= has_come, words.half[i] = std::uint32_t(word);
    }
  } while (!__all_sync(~0u, come));
  return std::bit_cast<Part>(words);
}

}  // namespace
}  // namespace kolmo::cuda
