#include "kolmo/device/grid.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/timeseries/time_delayed_embedding/time_delayed_embedding.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {
using A = TimeDelayedEmbeddingArgs;

constexpr int block_sizes[] = {256, 128, 512};
constexpr Row<NoConfig> variants[] = {{"block 256"}, {"block 128"}, {"block 512"}};
constexpr std::int64_t rows_per_thread = 4;
constexpr unsigned in_flight = 4;  // elements that a thread reads at once

/// Writes a run of rows by a block; neighbouring threads write neighbouring elements, and x is read through
/// the cache. Within a run, indices fit into 32 bits, which keeps the division by m cheap.
template <class T, int V>
__global__ void __launch_bounds__(block_sizes[V])
    embed(cuda::EarlyStart early, const T* x, T* out, std::int64_t n, std::int64_t rows, std::uint32_t m,
          std::int64_t tau, std::int64_t parts, std::int64_t items) {
  constexpr unsigned block = block_sizes[V];
  early.wait();
  constexpr std::int64_t part = block * rows_per_thread;
  for (std::int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const std::int64_t b = item / parts, first = item % parts * part;
    const std::int64_t count = rows - first < part ? rows - first : part;
    const T* newest = x + b * n + (m - 1) * tau + first;
    T* to = out + (b * rows + first) * m;
    const std::uint32_t end = std::uint32_t(count) * m;
    for (std::uint32_t e = threadIdx.x; e < end; e += block * in_flight) {
      T value[in_flight];
#pragma unroll
      for (unsigned i = 0; i < in_flight; ++i)
        if (const std::uint32_t at = e + i * block; at < end) {
          const std::uint32_t row = at / m, column = at - row * m;
          value[i] = newest[row - column * tau];
        }
#pragma unroll
      for (unsigned i = 0; i < in_flight; ++i)
        if (const std::uint32_t at = e + i * block; at < end) to[at] = value[i];
    }
  }
}

void launch(const A& a, Arena, Stream& s, int variant) {
  const std::int64_t n = a.x.extent[std::size_t(a.x.rank - 1)], rows = n - (a.dimension - 1) * a.tau,
                     batch = a.x.size() / n;
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    cuda::select<std::size(block_sizes)>(variant, [&]<int V> {
      constexpr std::int64_t part = block_sizes[V] * rows_per_thread;
      const std::int64_t parts = (rows + part - 1) / part;
      cuda::launch_early(embed<T, V>, cuda::blocks(batch * parts, 1), block_sizes[V], 0, cuda::native(s),
                         a.x.as<T>(), a.embedded.as<T>(), n, rows, std::uint32_t(a.dimension), a.tau, parts,
                         batch * parts);
    });
  });
}

}  // namespace

extern constinit const Impl<TimeDelayedEmbeddingArgs> time_delayed_embedding_cuda{
    {.rows = variants, .launch = launch}};

}  // namespace kolmo
