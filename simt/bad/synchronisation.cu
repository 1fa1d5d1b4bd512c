// Deliberately wrong kernels: synchronisation.
#include "../tests/launch.cuh"

namespace {
__global__ void returned(int* out) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void branch(int* out) {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  out[threadIdx.x] = 1;
}
__global__ void lanes(int* out) {
  if (threadIdx.x % 2) out[threadIdx.x] = __shfl_sync(~0u, 1, 0);
  __syncthreads();
}
__global__ void mask(int* out) { out[threadIdx.x] = __ballot_sync(0xffffu, 1); }
__global__ void masks(int* out) {
  out[threadIdx.x] = __any_sync(threadIdx.x < 16 ? ~0u : 0xffff0000u, 1);
  __syncthreads();
}
__global__ void absent(int* out) {
  int v = threadIdx.x;
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  out[threadIdx.x] = v;
}
__global__ void width(int* out) { out[threadIdx.x] = __shfl_down_sync(~0u, 1, 1, 12); }
template <class T, int N>
__global__ void fill(T* out) {
  out[threadIdx.x] = T(N);
}
}  // namespace

namespace bad {
void returned(int* out) { launch(::returned, 2, 64, 0, nullptr, out); }
void branch(int* out) { launch(::branch, 2, 64, 0, nullptr, out); }
void lanes(int* out) { launch(::lanes, 1, 64, 0, nullptr, out); }
void mask(int* out) { launch(::mask, 1, 32, 0, nullptr, out); }
void masks(int* out) { launch(::masks, 1, 32, 0, nullptr, out); }
void absent(int* out) { launch(::absent, 1, 48, 0, nullptr, out); }
void width(int* out) { launch(::width, 1, 32, 0, nullptr, out); }
void too_many_threads(int* out) { launch(fill<int, 3>, 1, dim3(1024, 2), 0, nullptr, out); }
void too_much_shared(int* out) { launch(fill<int, 3>, 1, 32, 300 * 1024, nullptr, out); }
void empty_grid(int* out) { launch(fill<int, 3>, 0, 32, 0, nullptr, out); }
void endless_grid(int* out) { launch(fill<int, 3>, dim3(1, 65536), 32, 0, nullptr, out); }
void huge_grid(int* out) {
  volatile long long blocks = 0x100000001;  // hidden from the compilers' warnings
  launch(fill<int, 3>, blocks + 0, 32, 0, nullptr, out);
}
}  // namespace bad
