#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kolmo/runtime/device.hpp"

namespace kolmo {

/// A kernel in the memory of the driver; the same on every GPU that its image is for.
struct LoadedKernel {
  void* handle = nullptr;
  std::vector<std::size_t> parameters;  ///< their sizes in bytes
};

/// Loads a kernel from PTX or a cubin, for good. Throws InvalidArgument when the image is not for this device
/// or has no such kernel, naming those it has.
LoadedKernel load_kernel(const std::string& image, const std::string& entry, Device device);

/// Queues a loaded kernel; `arguments` point to values of the sizes of its parameters.
void launch_loaded(const LoadedKernel& kernel, const std::array<unsigned, 3>& grid,
                   const std::array<unsigned, 3>& block, std::size_t shared, Device device, void* stream,
                   std::span<void*> arguments);

/// What a GPU's driver knows of a kernel that nvcc put into the program: the last word on tune::occupancy.
/// Nothing for any other function.
struct KernelFacts {
  int registers;       ///< per thread
  std::size_t shared;  ///< static, bytes
  int blocks;          ///< that a multiprocessor holds at a time
};
std::optional<KernelFacts> driver_facts(const void* kernel, int threads, std::size_t dynamic_shared,
                                        Device device);

/// What one multiprocessor of a GPU can hold at a time, as its driver says.
struct MultiprocessorFacts {
  int threads, blocks, registers;
  std::size_t shared, shared_per_block, shared_reserved;  ///< bytes
};
MultiprocessorFacts driver_facts(Device device);

}  // namespace kolmo
