#include "kolmo/runtime/backend.hpp"
#include "kolmo/runtime/cuda/cublaslt.hpp"
#include "kolmo/runtime/device.hpp"
#include "kolmo/runtime/kernel_loader.hpp"
#include "kolmo/runtime/nvtx.hpp"

namespace kolmo {
namespace {

[[noreturn]] void no_cuda() {
  fail<Unsupported>("cuda: this build has no CUDA support (see the CMake option KOLMO_CUDA)");
}

}  // namespace

int cuda_device_count() { return 0; }
std::unique_ptr<Backend> make_cuda_backend(int) { no_cuda(); }
CurrentDevice::CurrentDevice() = default;
CurrentDevice::CurrentDevice(Device) {}
CurrentDevice::~CurrentDevice() { before_ = -1; }  // or clang warns that nothing uses it

LoadedKernel load_kernel(const std::string&, const std::string&, Device) { no_cuda(); }
void launch_loaded(const LoadedKernel&, const std::array<unsigned, 3>&, const std::array<unsigned, 3>&,
                   std::size_t, Device, void*, std::span<void*>) {
  no_cuda();
}

std::optional<KernelFacts> driver_facts(const void*, int, std::size_t, Device) { no_cuda(); }
MultiprocessorFacts driver_facts(Device) { no_cuda(); }

bool nvtx_available() { return false; }
void nvtx_push(const char*) {}
void nvtx_pop() {}

const cuda::VendorLibrary* cuda::vendor_library() { return nullptr; }
bool cuda::vendor_matmul_fits(const VendorMatmul&) { return false; }
void cuda::vendor_matmul(const VendorMatmul&, void*, Stream&) {
  fail<Unsupported>("cuBLASLt: this build has no CUDA support (see the CMake option KOLMO_CUDA)");
}

}  // namespace kolmo
