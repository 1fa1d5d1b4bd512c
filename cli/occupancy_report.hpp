#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kolmo/runtime/kernel.hpp"
#include "kolmo/tune/kernel_resources.hpp"
#include "kolmo/tune/occupancy.hpp"

namespace kolmo::cli {

/// A launch that is analysed for every capability.
struct Row {
  std::string op, case_name, variant, kernel;
  tune::Symbol symbol;
  std::shared_ptr<const Kernel> given;  // set instead of the symbol
  const void* address = nullptr;
  std::uint64_t grid = 0;
  int threads = 0;
  std::size_t dynamic = 0;
  int times = 1;
};

/// The analysis of a launch for one capability, with the kernel's resources there.
struct Finding {
  const Row* row;
  const tune::Multiprocessor* on;
  tune::KernelResources kernel;
  int processors;
  tune::Occupancy occupancy;
  tune::Waves waves;
};

/// Analyses a launch. If `processors` is 0, the GPU has as many multiprocessors as the capability's example
/// GPU.
Finding look(const Row& row, const tune::Multiprocessor& on, const tune::KernelResources& kernel,
             int processors);

nlohmann::ordered_json to_json(const Finding& finding);
/// Prints a table for each capability; for one launch described by numbers, one table for all.
void print(const std::vector<Finding>& findings);

}  // namespace kolmo::cli
