#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "kolmo/check/problem.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::check {

/// How long and how often a case is measured. After five samples, measuring stops once the relative standard
/// error of the median is below `precision`. For normally distributed times this error is 0.93 times the
/// interquartile range over the square root of the number of samples.
struct BenchmarkOptions {
  int samples = 10;  ///< the most samples
  double precision = 0.005;
  double seconds_per_sample = 0.01;  ///< calls are grouped until a sample lasts this long
  /// No sample is started that would end later than this. There are two exceptions, since the time may have
  /// been spent on preparing the case: the first sample, and the first five if a call takes less than twice
  /// seconds_per_sample.
  double seconds_per_case = 5;
  bool unfused = false;  ///< time the operator without its activation, and fused_activation() after it
};

/// The operator (relu or gelu) that would have to follow if this one had no option `activation`. Null if the
/// operator has no such option, or if it is none.
const OpEntry* fused_activation(const OpBase& op, const void* args);

/// Times of one case of an operator on one device, in seconds per call. Inputs are on the device before
/// timing starts. On CUDA the device's own clock is used.
struct Benchmark {
  std::string name;  ///< name of the operator, or of the alias whose case it is
  std::string case_name, device, variant;
  Cost cost;  ///< outputs of unknown length count as far as they were written
  /// Memory that a call needs on the device, as its arguments and the layout of its workspace say.
  std::size_t tensor_bytes = 0, workspace_bytes = 0;
  int calls_per_sample = 1;
  std::vector<double> samples;
  double median = 0, lower_quartile = 0, upper_quartile = 0;
  double bytes_per_second = 0, flops_per_second = 0;
  /// The share of the roofline: least_seconds() over the median; 0 if unknown.
  double share = 0;
  bool cut_short = false;  ///< the time ran out before there were enough samples
};

/// Measures a problem. `variant` -1 takes the variant that run() would take. Tensors that the operator
/// modifies in place are restored before every sample, outside the timed region, and each call of a sample
/// works on its own copy. Throws what the operator throws.
Benchmark benchmark_problem(const OpEntry& entry, const Problem& problem, Stream& stream, int variant = -1,
                            const BenchmarkOptions& options = {});
Benchmark benchmark_case(const OpEntry& entry, std::size_t index, Stream& stream, int variant = -1,
                         const BenchmarkOptions& options = {});

/// Distributes a time budget among cases; time runs from construction. Time that a case does not use is
/// available to later cases.
class TimeBudget {
 public:
  TimeBudget(double seconds, std::size_t cases);

  double left() const;
  /// Seconds for the next case: twice an equal share of the remaining time, because few cases use up their
  /// share.
  double next();

 private:
  std::chrono::steady_clock::time_point end_;
  std::size_t cases_;
};

/// A lower bound of the time for these bytes and flops, at the device's measured peaks. 0 if the peaks are
/// not known, or if the data fit in the caches and the memory traffic would be the bound.
double least_seconds(const Cost& cost, DType dtype, Stream& stream);

/// The device's measured peaks, with the stream's number of threads: memory bandwidth (CPU: a triad larger
/// than its caches; CUDA: a device copy) and fused multiply-adds (CPU). Measured once per device and number
/// of threads. Peaks that are not measured come from device_info. simt has no peaks.
DeviceInfo measured_peaks(Stream& stream);

/// The peak rate for an operator's kind of operations, in flops per second; 0 if it is not known.
double peak_flops(const DeviceInfo& peaks, const Cost& cost, DType dtype);

}  // namespace kolmo::check
