#pragma once
// Why all device code stands in anonymous namespaces: a program may hold it twice, compiled by nvcc for GPUs and by the
// C++ compiler for the emulated GPU, and the two bodies of a function differ. Were its name visible to the linker, the
// linker would keep one body for both.
#include <cstdint>
#include <utility>

namespace kolmo::cuda {
namespace {

/// Calls f.operator()<i>() for the run-time index i in [0, N).
template <int N, class F>
void select(int i, F&& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    ((I == i ? (f.template operator()<I>(), void()) : void()), ...);
  }
  (std::make_integer_sequence<int, N>{});
}

/// Number of blocks of `size` threads that cover n items, at most `limit`; kernels stride over the remaining
/// items.
inline unsigned blocks(std::int64_t n, std::int64_t size, std::int64_t limit = 1 << 20) {
  const std::int64_t b = (n + size - 1) / size;
  return unsigned(b < 1 ? 1 : b > limit ? limit : b);
}

/// Index of this thread in a one-dimensional grid, and the number of threads in it.
__device__ inline std::int64_t thread_index() { return std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline std::int64_t thread_count() { return std::int64_t(gridDim.x) * blockDim.x; }

}  // namespace
}  // namespace kolmo::cuda
