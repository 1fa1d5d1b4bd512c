#pragma once
// The only differences between the two compilers: how a kernel is launched, how dynamic shared memory is
// accessed, and the namespace of the entry points (both versions of a kernel may be linked into one program).

#include <cuda_runtime.h>

#ifdef SIMT
#define DEVICE emulated
using simt::dynamic_shared;
using simt::launch;
#else
#include <stdexcept>
#define DEVICE gpu
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char simt_test_dynamic_shared[];
  return reinterpret_cast<T*>(simt_test_dynamic_shared);
}
template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream,
            A&&... args) {
  kernel<<<grid, block, shared, stream>>>(P(args)...);
  if (const auto e = cudaGetLastError(); e != cudaSuccess) throw std::runtime_error(cudaGetErrorString(e));
}
#endif
