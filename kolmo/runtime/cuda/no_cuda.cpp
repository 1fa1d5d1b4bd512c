#include "kolmo/runtime/backend.hpp"
#include "kolmo/runtime/cuda/cublaslt.hpp"
#include "kolmo/runtime/nvtx.hpp"

namespace kolmo {

int cuda_device_count() { return 0; }
std::unique_ptr<Backend> make_cuda_backend(int) {
  fail<Unsupported>("cuda: this build has no CUDA support (it was configured without nvcc)");
}

bool nvtx_available() { return false; }
void nvtx_push(const char*) {}
void nvtx_pop() {}

bool cuda::vendor_matmul_fits(const VendorMatmul&) { return false; }
void cuda::vendor_matmul(const VendorMatmul&, void*, Stream&) {
  fail<Unsupported>("cuBLASLt: this build has no CUDA support (it was configured without nvcc)");
}

}  // namespace kolmo
