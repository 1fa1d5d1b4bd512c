// Atomic functions, checked inside the kernel: `failed` receives the line of the last failed check.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "launch.cuh"

#define EXPECT(condition) \
  if (!(condition)) atomicMax(failed, __LINE__)

namespace {
__device__ int visits;

struct Shared {
  unsigned long long big;
  long long highest;
  double f64;
  float f32;
  half f16;
  half2 f16_pair;
  __nv_bfloat16 bf16;
  int low, high, lock, guarded, last, bits_and, bits_or, bits_xor, left;
  unsigned turn, down;
};

__global__ void atomics(int* failed) {
  __shared__ Shared s;
  const int i = threadIdx.x, n = blockDim.x;
  if (i == 0) {
    s.big = 0, s.highest = -1, s.f64 = 0, s.f32 = 0;
    s.f16 = __float2half(0.0f), s.f16_pair = __float2half2_rn(0.0f), s.bf16 = __float2bfloat16(0.0f);
    s.low = 1 << 30, s.high = -1, s.lock = 0, s.guarded = 0, s.bits_and = -1, s.bits_or = 0, s.bits_xor = 0,
    s.left = n;
    s.turn = 0, s.down = 0;
    atomicExch(&s.last, -1);
  }
  __syncthreads();
  atomicAdd(&s.big, 1ull << 33);
  atomicAdd(&s.f32, 0.5f);
  atomicAdd(&s.f64, 0.25);
  atomicAdd_block(&s.left, -1);
  atomicMax(&s.highest, (long long)i << 40);
  atomicMin(&s.low, i), atomicMax(&s.high, i);
  atomicInc(&s.turn, 9u), atomicDec(&s.down, 9u);
  atomicAnd(&s.bits_and, ~(1 << i % 32)), atomicOr(&s.bits_or, 1 << i % 32), atomicXor(&s.bits_xor, 1);
  if (i < 64) atomicAdd(&s.f16, __float2half(1.0f)), atomicAdd(&s.bf16, __float2bfloat16(1.0f));
  if (i < 64) atomicAdd(&s.f16_pair, __floats2half2_rn(1.0f, -2.0f));
  atomicExch(&s.last, i);
  atomicAdd(&visits, 1);
  for (bool done = false; !done;)  // a spin lock inside one warp
    if (atomicCAS(&s.lock, 0, 1) == 0) {
      ++s.guarded;
      __threadfence();
      atomicExch(&s.lock, 0);
      done = true;
    }
  __syncthreads();
  EXPECT(s.big == (unsigned long long)n << 33);
  EXPECT(s.f32 == 0.5f * n && s.f64 == 0.25 * n);
  EXPECT(s.left == 0 && s.highest == (long long)(n - 1) << 40);
  EXPECT(s.low == 0 && s.high == n - 1 && s.last >= 0 && s.last < n);
  EXPECT(s.turn == n % 10u && s.down == (10 - n % 10u) % 10);
  EXPECT(s.bits_and == 0 && s.bits_or == -1 && s.bits_xor == n % 2);
  EXPECT(__half2float(s.f16) == 64 && __bfloat162float(s.bf16) == 64);
  EXPECT(__low2float(s.f16_pair) == 64 && __high2float(s.f16_pair) == -128);
  EXPECT(s.guarded == n && atomicAdd(&visits, 0) >= n);
}
}  // namespace

namespace DEVICE {
void check_atomics(int* failed, int threads) { launch(atomics, 8, threads, 0, nullptr, failed); }
}  // namespace DEVICE
