#include "kolmo/runtime/kernel_loader.hpp"

#include <cuda_runtime_api.h>

#include "kolmo/base/error.hpp"

namespace kolmo {
namespace {

void check(cudaError_t e, const std::string& doing, Device device) {
  if (e == cudaSuccess) return;
  cudaGetLastError();
  fail<DeviceError>(to_string(device) + ": error while " + doing + ": " + cudaGetErrorString(e));
}

/// The symbols of a library's kernels, for use in a message. Empty if they cannot be listed.
std::string kernels_in(cudaLibrary_t library) {
  unsigned count = 0;
  cudaLibraryGetKernelCount(&count, library);
  std::vector<cudaKernel_t> kernels(count);
  cudaLibraryEnumerateKernels(kernels.data(), count, library);
  std::string all;
  for (const cudaKernel_t kernel : kernels) {
    const char* name = nullptr;
    if (cudaFuncGetName(&name, kernel) == cudaSuccess) all += (all.empty() ? "" : ", ") + std::string(name);
  }
  return all;
}

}  // namespace

LoadedKernel load_kernel(const std::string& image, const std::string& entry, Device device) {
  check(cudaSetDevice(device.index), "selecting the device", device);
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  cudaError_t e = cudaLibraryLoadData(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  // This call may be the one that loads the kernel.
  if (e == cudaSuccess) e = cudaLibraryGetKernel(&kernel, library, entry.c_str());
  if (e != cudaSuccess) {
    const std::string there = library ? kernels_in(library) : "";
    if (library) cudaLibraryUnload(library);
    cudaGetLastError();
    if (!there.empty())
      fail<InvalidArgument>("kernel '" + entry + "' is not in its code, which has " + there);
    fail<InvalidArgument>("kernel '" + entry + "': " + to_string(device) +
                          " cannot load its code: " + cudaGetErrorString(e));
  }
  LoadedKernel loaded{kernel, {}};
  for (std::size_t offset = 0, size = 0;
       cudaFuncGetParamInfo(kernel, loaded.parameters.size(), &offset, &size) == cudaSuccess;)
    loaded.parameters.push_back(size);
  cudaGetLastError();  // clears the error of the query past the last parameter
  return loaded;
}

void launch_loaded(const LoadedKernel& kernel, const std::array<unsigned, 3>& grid,
                   const std::array<unsigned, 3>& block, std::size_t shared, Device device, void* stream,
                   std::span<void*> arguments) {
  check(cudaSetDevice(device.index), "selecting the device", device);
  constexpr std::size_t without_opt_in = 48 * 1024;
  if (shared > without_opt_in)
    check(cudaKernelSetAttributeForDevice(static_cast<cudaKernel_t>(kernel.handle),
                                          cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared),
                                          device.index),
          "asking for shared memory", device);
  cudaLaunchConfig_t launch{};
  launch.gridDim = {grid[0], grid[1], grid[2]};
  launch.blockDim = {block[0], block[1], block[2]};
  launch.dynamicSmemBytes = shared;
  launch.stream = static_cast<cudaStream_t>(stream);
  check(cudaLaunchKernelExC(&launch, kernel.handle, arguments.data()), "launching a kernel", device);
}

std::optional<KernelFacts> driver_facts(const void* kernel, int threads, std::size_t dynamic_shared,
                                        Device device) {
  check(cudaSetDevice(device.index), "selecting the device", device);
  cudaFuncAttributes a{};
  const cudaError_t e = cudaFuncGetAttributes(&a, kernel);
  if (e == cudaErrorInvalidDeviceFunction || e == cudaErrorInvalidResourceHandle) {
    cudaGetLastError();
    return std::nullopt;
  }
  check(e, "asking for a kernel's resources", device);
  if (dynamic_shared > 48 * 1024)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(dynamic_shared)),
          "asking for shared memory", device);
  KernelFacts facts{a.numRegs, a.sharedSizeBytes, 0};
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&facts.blocks, kernel, threads, dynamic_shared),
        "asking for occupancy", device);
  return facts;
}

MultiprocessorFacts driver_facts(Device device) {
  const auto ask = [&](cudaDeviceAttr attribute) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, attribute, device.index), "asking for its limits", device);
    return value;
  };
  return {ask(cudaDevAttrMaxThreadsPerMultiProcessor),
          ask(cudaDevAttrMaxBlocksPerMultiprocessor),
          ask(cudaDevAttrMaxRegistersPerMultiprocessor),
          std::size_t(ask(cudaDevAttrMaxSharedMemoryPerMultiprocessor)),
          std::size_t(ask(cudaDevAttrMaxSharedMemoryPerBlockOptin)),
          std::size_t(ask(cudaDevAttrReservedSharedMemoryPerBlock))};
}

}  // namespace kolmo
