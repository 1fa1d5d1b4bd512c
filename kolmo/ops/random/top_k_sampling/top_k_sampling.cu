#include "kolmo/device/row_tile.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/random/top_k_sampling/sampling_row.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {
using A = TopKSamplingArgs;

/// A block for each row.
struct BlockGroup {
  static constexpr int threads = 512;
  int thread;
  SamplingMemory memory;
  __device__ void sync() const { __syncthreads(); }
  template <class C>
  __device__ C largest(C value) const {
    return cuda::combine<threads>(value, cuda::Larger());
  }
  __device__ void add(std::uint64_t* sum, std::uint64_t value) const {
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
  }
};

template <class T>
__global__ void __launch_bounds__(BlockGroup::threads)
    sample_rows(A a, std::int64_t rows, std::int64_t v, Status status) {
  __shared__ std::uint64_t bins[256], coarse[16], ties[BlockGroup::threads + 1],
      weights[BlockGroup::threads + 1];
  const BlockGroup group{int(threadIdx.x), {bins, coarse, ties, weights}};
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    sample_row<T>(a, group, row, v, status);
    __syncthreads();
  }
}

void launch(const A& a, Arena, Stream& s, int) {
  visit<double, float, Half, BFloat16>(a.logits.dtype, [&]<class T> {
    const std::int64_t v = a.logits.dim(-1), rows = a.n ? a.index.size() / a.n : 0;
    cuda::launch(sample_rows<T>, cuda::blocks(rows, 1), BlockGroup::threads, 0, cuda::native(s), a, rows, v,
                 s.status());
  });
}

}  // namespace

extern constinit const Impl<A> top_k_sampling_cuda{{.launch = launch}};

}  // namespace kolmo
