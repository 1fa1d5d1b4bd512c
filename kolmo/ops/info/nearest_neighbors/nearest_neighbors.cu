#include "kolmo/device/grid.cuh"
#include "kolmo/knn/finite.hpp"
#include "kolmo/knn/theiler.hpp"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/info/nearest_neighbors/nearest_neighbors.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

constexpr int block_sizes[] = {128, 64, 256};
constexpr Row<NoConfig> variants[] = {{"block 128"}, {"block 64"}, {"block 256"}};
constexpr int max_k = 64;

struct Search {
  std::int64_t n, d, k, theiler;
  const std::int64_t* time;
  double* distance;
  std::int64_t* index;
  Status status;
};

/// A thread computes one point. The block reads all points through shared memory, a tile of `blockDim.x` at a
/// time. Rows come in ascending order, so of equally near rows the lowest are kept.
template <class T, int V>
__global__ void __launch_bounds__(block_sizes[V]) search(Search p, const T* x) {
  T* tile = cuda::dynamic_shared<T>();
  double best[max_k];
  std::int64_t row[max_k];
  const std::int64_t size = blockDim.x, i = std::int64_t(blockIdx.x) * size + threadIdx.x;
  const bool mine = i < p.n;
  for (std::int64_t c = 0; mine && c < p.d; ++c)
    if (!is_finite(x[i * p.d + c])) p.status.report(0, i * p.d + c);
  if (mine && i && p.time && p.time[i] <= p.time[i - 1]) p.status.report(1, i);
  double worst = HUGE_VAL;
  for (std::int64_t c = 0; c < p.k; ++c) best[c] = HUGE_VAL, row[c] = -1;
  for (std::int64_t begin = 0; begin < p.n; begin += size) {
    const std::int64_t rows = p.n - begin < size ? p.n - begin : size;
    __syncthreads();
    for (std::int64_t e = threadIdx.x; e < rows * p.d; e += size) tile[e] = x[begin * p.d + e];
    __syncthreads();
    if (!mine) continue;
    for (std::int64_t r = 0; r < rows; ++r) {
      double e = 0;
      for (std::int64_t c = 0; c < p.d && e < worst; ++c)
        e = fmax(e, fabs(double(tile[r * p.d + c]) - double(x[i * p.d + c])));
      if (!(e < worst)) continue;
      const std::int64_t j = begin + r;
      if (in_theiler_window(i, j, p.time, p.theiler)) continue;
      std::int64_t at = p.k - 1;
      for (; at > 0 && best[at - 1] > e; --at) best[at] = best[at - 1], row[at] = row[at - 1];
      best[at] = e, row[at] = j;
      worst = best[p.k - 1];
    }
  }
  for (std::int64_t c = 0; mine && c < p.k; ++c) {
    p.distance[i * p.k + c] = best[c];
    if (p.index) p.index[i * p.k + c] = row[c];
  }
}

void launch(const NearestNeighborsArgs& a, Arena, Stream& s, int variant) {
  const Search p{a.x.extent[0],
                 a.x.extent[1],
                 a.k,
                 a.theiler,
                 a.time.as<std::int64_t>(),
                 a.distance.as<double>(),
                 a.index.given() ? a.index.as<std::int64_t>() : nullptr,
                 s.status()};
  visit<double, float>(a.x.dtype, [&]<class T> {
    cuda::select<std::size(block_sizes)>(variant, [&]<int V> {
      constexpr int size = block_sizes[V];
      cuda::launch(search<T, V>, unsigned((p.n + size - 1) / size), size, std::size_t(size * p.d) * sizeof(T),
                   cuda::native(s), p, a.x.as<T>());
    });
  });
}

}  // namespace

extern constinit const Impl<NearestNeighborsArgs> nearest_neighbors_cuda{
    {.rows = variants, .launch = launch}};

}  // namespace kolmo
