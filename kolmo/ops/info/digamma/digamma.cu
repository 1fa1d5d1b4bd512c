#include "kolmo/base/digamma.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/ops/info/digamma/digamma.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

constexpr int block_sizes[] = {256, 128, 512};
constexpr Variant variants[] = {{"block 256"}, {"block 128"}, {"block 512"}};

template <class T, int V>
__global__ void __launch_bounds__(block_sizes[V]) psi(const T* x, T* y, std::int64_t n) {
  for (std::int64_t i = cuda::thread_index(); i < n; i += cuda::thread_count())
    y[i] = T(digamma_exact(double(x[i])));
}

void launch(const DigammaArgs& a, void*, Stream& s, int variant) {
  const std::int64_t n = a.x.size();
  visit<double, float>(a.x.dtype, [&]<class T> {
    cuda::select<std::size(block_sizes)>(variant, [&]<int V> {
      cuda::launch(psi<T, V>, cuda::blocks(n, block_sizes[V]), block_sizes[V], 0, cuda::native(s),
                   a.x.as<T>(), a.y.as<T>(), n);
    });
  });
}

}  // namespace

extern constinit const CudaImpl digamma_cuda = cuda_impl<DigammaArgs, launch>(variants);

}  // namespace kolmo
