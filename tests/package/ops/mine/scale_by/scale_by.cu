#include "kolmo/device/grid.cuh"
#include "kolmo/runtime/cuda/launch.cuh"
#include "mine/scale_by/scale_by.hpp"

namespace kolmo {
namespace {

constexpr int block_sizes[] = {256, 128};
constexpr Variant variants[] = {{"block 256"}, {"block 128"}};

template <class T, int V>
__global__ void __launch_bounds__(block_sizes[V]) scale(const T* x, T* y, T factor, std::int64_t n) {
  for (std::int64_t i = cuda::thread_index(); i < n; i += cuda::thread_count()) y[i] = factor * x[i];
}

void launch(const ScaleByArgs& a, void*, Stream& s, int variant) {
  const std::int64_t n = a.x.size();
  visit<double, float>(a.x.dtype, [&]<class T> {
    cuda::select<std::size(block_sizes)>(variant, [&]<int V> {
      cuda::launch(scale<T, V>, cuda::blocks(n, block_sizes[V]), block_sizes[V], 0, cuda::native(s),
                   a.x.as<T>(), a.y.as<T>(), T(a.factor), n);
    });
  });
}

}  // namespace

extern constinit const CudaImpl scale_by_cuda = cuda_impl<ScaleByArgs, launch>(variants);

}  // namespace kolmo
