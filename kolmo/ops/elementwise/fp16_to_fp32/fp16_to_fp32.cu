#include "kolmo/base/pack.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/ops/elementwise/fp16_to_fp32/fp16_to_fp32.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {
using A = Fp16ToFp32Args;

/// Threads of a block, and elements that a thread converts at a time.
struct Shape {
  int block, width;
};
constexpr Shape shapes[] = {{256, 8}, {128, 8}, {512, 8}, {256, 1}};
constexpr int one_at_a_time = 3;  // also where memory is not aligned
constexpr Variant variants[] = {{"8 at a time, block 256"},
                                {"8 at a time, block 128"},
                                {"8 at a time, block 512"},
                                {.name = "one at a time", .naive = true}};

template <int V>
__global__ void __launch_bounds__(shapes[V].block) convert(const Half* x, float* y, std::int64_t n) {
  constexpr int width = shapes[V].width;
  const std::int64_t packs = n / width;
  for (std::int64_t i = cuda::thread_index(); i < packs; i += cuda::thread_count()) {
    const Pack<Half, width> from = load_pack<width>(x + i * width);
    Pack<float, width> to;
#pragma unroll
    for (int w = 0; w < width; ++w) to.value[w] = from.value[w];
    store_pack(y + i * width, to);
  }
  if (const std::int64_t i = packs * width + cuda::thread_index(); i < n) y[i] = x[i];
}

void launch(const A& a, void*, Stream& s, int variant) {
  const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 32 == 0; };
  const std::int64_t n = a.x.size();
  const int shape = aligned(a.x.data) && aligned(a.y.data) ? variant : one_at_a_time;
  cuda::select<std::size(shapes)>(shape, [&]<int V> {
    cuda::launch(convert<V>, cuda::blocks(n, shapes[V].block * shapes[V].width), shapes[V].block, 0,
                 cuda::native(s), a.x.as<Half>(), a.y.as<float>(), n);
  });
}

}  // namespace

extern constinit const CudaImpl fp16_to_fp32_cuda = cuda_impl<A, launch>(variants);

}  // namespace kolmo
