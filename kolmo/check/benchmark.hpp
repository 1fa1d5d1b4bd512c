#pragma once
#include <string>
#include <vector>

#include "kolmo/op/registry.hpp"

namespace kolmo::check {

/// How long and how often a case is measured.
struct BenchmarkOptions {
  int samples = 10;
  double seconds_per_sample = 0.01;  ///< calls are put together until a sample lasts this long
  double seconds_per_case = 5;       ///< no further sample is begun after this, once there are three
};

/// Times of one case of an operator on one device, in seconds per call. The inputs are where they are used
/// before the clock starts; on CUDA the device's own clock is read.
struct Benchmark {
  std::string op, case_name, device, variant;
  Cost cost;
  int calls_per_sample = 1;
  std::vector<double> samples;
  double median = 0, lower_quartile = 0, upper_quartile = 0;
  double bytes_per_second = 0, flops_per_second = 0;
  /// least_seconds() over the median; 0 when that is not known.
  double share = 0;
};

/// `variant` -1 takes the one that run() would. Throws what the operator throws.
Benchmark benchmark_case(const OpEntry& entry, std::size_t index, Stream& stream, int variant = -1,
                         const BenchmarkOptions& options = {});

/// The time that the device needs at least for these bytes and flops, by its measured peaks; 0 when the peaks
/// are not known, or the data fit in its caches and their transfer would take longest.
double least_seconds(const Cost& cost, DType dtype, Stream& stream);

/// What the device reaches when nothing is in its way, with the stream's threads: memory bandwidth (CPU: a
/// triad larger than its caches; CUDA: a device copy) and fused multiply-adds (CPU). Measured once per device
/// and number of threads; what is not measured is taken from device_info, and simt has no peaks.
DeviceInfo measured_peaks(Stream& stream);

/// The peak that holds for an operator's operations; 0 when it is not known.
double peak_flops(const DeviceInfo& peaks, const Cost& cost, DType dtype);

}  // namespace kolmo::check
