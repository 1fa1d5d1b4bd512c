#pragma once
#include <map>

#include "kolmo/check/problem.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::cli {

/// The theoretical occupancy of a variant's largest launch.
struct VariantOccupancy {
  double ratio = 0;
  int threads = 0;
  bool possible = true;  ///< false when one of its kernels cannot be resident
};

/// The occupancy of the CUDA variants, by their row, for those whose kernels this build compiled for the
/// device's capability. Empty on other devices, and in builds without the emulated GPU, which provides the
/// launches.
std::map<int, VariantOccupancy> variant_occupancies(const check::Problem& problem, const Stream& stream);

/// The row that NVIDIA's occupancy API would choose: the highest occupancy, and of equal ones the larger
/// block. -1 if there is none.
int highest_occupancy(const std::map<int, VariantOccupancy>& variants);

}  // namespace kolmo::cli
