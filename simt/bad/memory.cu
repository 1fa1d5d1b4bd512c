// Deliberately wrong kernels: memory.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include "../tests/launch.cuh"

namespace {
__global__ void dynamic_past_end(int* out) {
  int* s = dynamic_shared<int>();
  s[threadIdx.x + 1] = 1;  // 64 elements were requested
  out[threadIdx.x] = s[threadIdx.x + 1];
}
__global__ void static_index(int* out, int shift) {
  __shared__ int s[64];
  s[threadIdx.x + shift] = 1;
  out[threadIdx.x] = s[threadIdx.x + shift];
}
template <class T>
__device__ void put(T* p, int i, T v) {
  p[i] = v;
}
__global__ void static_pointer(int* out, int shift) {
  __shared__ int before[16];
  __shared__ int s[67];
  __shared__ int after[16];
  before[threadIdx.x % 16] = after[threadIdx.x % 16] = 1;
  int* volatile hidden = s;  // hides the array from the compiler
  put(hidden, shift, 1);
  out[threadIdx.x] = before[0] + after[0];
}
template <int N>
__device__ int* scratch() {
  __shared__ int s[N];
  return s;
}
__global__ void template_pointer(int* out) {
  int* volatile s = scratch<64>();
  s[threadIdx.x + 1] = 1;
  out[threadIdx.x] = s[threadIdx.x + 1];
}
__global__ void global_past_end(int* out) { out[threadIdx.x + 1] = 1; }
__global__ void misaligned(int* out) {
  const float4 v = *reinterpret_cast<const float4*>(out + 1);
  out[threadIdx.x] = int(v.x);
}
__device__ int deep(int n, int* p) {
  volatile int pad[256];
  pad[0] = n;
  return n ? deep(n - 1, p) + pad[0] : *p;
}
__global__ void recursion(int* out) { out[threadIdx.x] = deep(100000, out); }

template <class T>
__global__ void uninitialised_static(int* out) {
  __shared__ T tile[64];
  if (threadIdx.x < 56) tile[threadIdx.x] = T(1);
  __syncthreads();
  out[threadIdx.x] = int(tile[63 - threadIdx.x]);
}
template <class T>
__global__ void uninitialised_dynamic(int* out) {
  T* tile = dynamic_shared<T>();
  if (threadIdx.x < 60) tile[threadIdx.x] = T(1);
  __syncthreads();
  out[threadIdx.x] = int(tile[63 - threadIdx.x]);
}
__global__ void uninitialised_later(int* out) {  // the second block must not see the first one's values
  __shared__ int tile[64];
  if (blockIdx.x == 0) tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void uninitialised_counter(int* out) {
  __shared__ int count;
  atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}
__global__ void uninitialised_flag(int* out) {
  __shared__ bool found;
  if (threadIdx.x == 99) found = true;
  __syncthreads();
  out[threadIdx.x] = found;
}
__global__ void no_wait(int* out) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &out[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(1);  // one group too early
  out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void never_waited(int* out) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &out[threadIdx.x], sizeof(int));
}
__global__ void copy_misaligned(int* out) {
  __shared__ __align__(16) int tile[8];
  __pipeline_memcpy_async(tile + 2, out, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
}
__global__ void atomic_misaligned(int* out) {
  atomicAdd(reinterpret_cast<unsigned long long*>(out + 1), 1ull);
}
__global__ void to_global(int* out) { __pipeline_memcpy_async(out + 1, out, sizeof(int)); }

using namespace nvcuda;
__global__ void wmma_misaligned(int* out) {
  __shared__ __align__(32) half a[17 * 16];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> f;
  wmma::load_matrix_sync(f, a + 8, 16);  // aligned to 16 bytes; 32 are required
  out[threadIdx.x] = int(__half2float(f.x[0]));
}
__global__ void wmma_stride(int* out) {
  __shared__ __align__(32) half a[20 * 16];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> f;
  wmma::load_matrix_sync(f, a, 20);
  out[threadIdx.x] = int(__half2float(f.x[0]));
}
__global__ void wmma_incomplete(int* out) {
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
  wmma::fill_fragment(f, 0.0f);
  wmma::store_matrix_sync(reinterpret_cast<float*>(out), f, 16, wmma::mem_row_major);
}
__global__ void mma_incomplete(int* out) {
  float sum[4] = {};
#ifdef SIMT  // the function is the emulator's own, for kernels that use PTX on a GPU
  const unsigned a[4] = {}, b[2] = {};
  simt::mma_m16n8k16<half>(sum, a, b);
#endif
  *out = int(sum[0]);
}
__global__ void wmma_lanes(int* out) {
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
  wmma::fill_fragment(f, 0.0f);
  if (threadIdx.x < 32)
    wmma::store_matrix_sync(reinterpret_cast<float*>(out) + 8 * (threadIdx.x / 16), f, 16,
                            wmma::mem_row_major);
}
}  // namespace

namespace bad {
void dynamic_past_end(int* out) { launch(::dynamic_past_end, 1, 64, 64 * sizeof(int), nullptr, out); }
void static_index(int* out) { launch(::static_index, 1, 64, 0, nullptr, out, 1); }
void static_past_end(int* out) { launch(::static_pointer, 1, 64, 0, nullptr, out, 67); }
void static_before_begin(int* out) { launch(::static_pointer, 1, 64, 0, nullptr, out, -1); }
void template_pointer(int* out) { launch(::template_pointer, 1, 64, 0, nullptr, out); }
void global_past_end(int* out) { launch(::global_past_end, 1, 64, 0, nullptr, out); }
void misaligned(int* out) { launch(::misaligned, 1, 1, 0, nullptr, out); }
void recursion(int* out) { launch(::recursion, 1, 1, 0, nullptr, out); }
void uninitialised_float(int* out) { launch(uninitialised_static<float>, 2, 64, 0, nullptr, out); }
void uninitialised_double(int* out) { launch(uninitialised_dynamic<double>, 2, 64, 512, nullptr, out); }
void uninitialised_int(int* out) { launch(uninitialised_static<int>, 2, 64, 0, nullptr, out); }
void uninitialised_unsigned(int* out) { launch(uninitialised_dynamic<unsigned>, 2, 64, 256, nullptr, out); }
void uninitialised_half(int* out) { launch(uninitialised_static<half>, 2, 64, 0, nullptr, out); }
void uninitialised_char(int* out) { launch(uninitialised_static<char>, 2, 64, 0, nullptr, out); }
void uninitialised_later(int* out) { launch(::uninitialised_later, 64, 64, 0, nullptr, out); }
void uninitialised_counter(int* out) { launch(::uninitialised_counter, 2, 64, 0, nullptr, out); }
void uninitialised_flag(int* out) { launch(::uninitialised_flag, 2, 64, 0, nullptr, out); }
void uninitialised_global(int* out) { launch(::misaligned, 1, 1, 0, nullptr, out + 3); }
void no_wait(int* out) { launch(::no_wait, 1, 64, 0, nullptr, out); }
void never_waited(int* out) { launch(::never_waited, 1, 64, 0, nullptr, out); }
void copy_misaligned(int* out) { launch(::copy_misaligned, 1, 1, 0, nullptr, out); }
void atomic_misaligned(int* out) { launch(::atomic_misaligned, 1, 1, 0, nullptr, out); }
void to_global(int* out) { launch(::to_global, 1, 1, 0, nullptr, out); }
void wmma_misaligned(int* out) { launch(::wmma_misaligned, 1, 32, 0, nullptr, out); }
void wmma_stride(int* out) { launch(::wmma_stride, 1, 32, 0, nullptr, out); }
void wmma_incomplete(int* out) { launch(::wmma_incomplete, 1, 16, 0, nullptr, out); }
void mma_incomplete(int* out) { launch(::mma_incomplete, 1, 16, 0, nullptr, out); }
void wmma_lanes(int* out) { launch(::wmma_lanes, 1, 32, 0, nullptr, out); }
}  // namespace bad
