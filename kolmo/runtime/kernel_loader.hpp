#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kolmo/runtime/device.hpp"

namespace kolmo {

/// A kernel loaded into the driver; the same for every GPU that its image supports.
struct LoadedKernel {
  void* handle = nullptr;
  std::vector<std::size_t> parameters;  ///< sizes in bytes
};

/// Loads a kernel from PTX or a cubin until the process ends. Throws InvalidArgument if the image is not for
/// this device or lacks this kernel, naming the kernels it has.
LoadedKernel load_kernel(const std::string& image, const std::string& entry, Device device);

/// Queues a loaded kernel; `arguments` point to its parameter values.
void launch_loaded(const LoadedKernel& kernel, const std::array<unsigned, 3>& grid,
                   const std::array<unsigned, 3>& block, std::size_t shared, Device device, void* stream,
                   std::span<void*> arguments);

/// The driver's data about a kernel that nvcc compiled into the program. They are the reference for
/// tune::occupancy. Empty for any other function.
struct KernelFacts {
  int registers;       ///< per thread
  std::size_t shared;  ///< static shared memory, bytes
  int blocks;          ///< blocks that a multiprocessor holds at a time
};
std::optional<KernelFacts> driver_facts(const void* kernel, int threads, std::size_t dynamic_shared,
                                        Device device);

/// The resources of one multiprocessor of a GPU, as reported by its driver.
struct MultiprocessorFacts {
  int threads, blocks, registers;
  std::size_t shared, shared_per_block, shared_reserved;  ///< bytes
};
MultiprocessorFacts driver_facts(Device device);

}  // namespace kolmo
