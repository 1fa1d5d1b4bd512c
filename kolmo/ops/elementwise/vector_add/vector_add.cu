#include "kolmo/device/grid.cuh"
#include "kolmo/ops/elementwise/vector_add/vector_add.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

constexpr int block_sizes[] = {256, 128, 512};
constexpr Variant variants[] = {{"block 256"}, {"block 128"}, {"block 512"}};

template <class T, int V>
__global__ void __launch_bounds__(block_sizes[V]) add(const T* x, const T* y, T* z, std::int64_t n) {
  for (std::int64_t i = cuda::thread_index(); i < n; i += cuda::thread_count()) z[i] = T(x[i] + y[i]);
}

void launch(const VectorAddArgs& a, void*, Stream& s, int variant) {
  const std::int64_t n = a.x.size();
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    cuda::select<std::size(block_sizes)>(variant, [&]<int V> {
      cuda::launch(add<T, V>, cuda::blocks(n, block_sizes[V]), block_sizes[V], 0, cuda::native(s),
                   a.x.as<T>(), a.y.as<T>(), a.z.as<T>(), n);
    });
  });
}

}  // namespace

extern constinit const CudaImpl vector_add_cuda = cuda_impl<VectorAddArgs, launch>(variants);

}  // namespace kolmo
