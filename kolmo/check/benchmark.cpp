#include "kolmo/check/benchmark.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kolmo/check/placement.hpp"

namespace kolmo::check {
namespace {

/// Bytes beyond which data cannot stay in the caches from one call to the next.
double cache_bytes(DeviceKind kind) {
  if (kind == DeviceKind::cuda) return 128e6;  // twice the largest second-level cache of today's GPUs
  const double last_level = double(sysconf(_SC_LEVEL3_CACHE_SIZE));
  return 2 * std::max(last_level, 32e6);
}

double quantile(std::vector<double> sorted, double q) {
  const double at = q * double(sorted.size() - 1);
  const auto low = std::size_t(at), high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - double(low)) * (sorted[high] - sorted[low]);
}

class Timer {
 public:
  Timer(const OpBase& op, const void* args, Stream& stream, RunOptions options)
      : op_(op),
        args_(args),
        stream_(stream),
        options_(options),
        begin_(stream.device()),
        end_(stream.device()) {}

  /// Seconds per call over `calls` calls in a row.
  double operator()(int calls) {
    begin_.record(stream_);
    for (int i = 0; i < calls; ++i) run(op_, args_, stream_, options_);
    end_.record(stream_);
    end_.synchronize();
    return Event::seconds(begin_, end_) / calls;
  }

 private:
  const OpBase& op_;
  const void* args_;
  Stream& stream_;
  RunOptions options_;
  Event begin_, end_;
};

}  // namespace

Benchmark benchmark_case(const OpEntry& entry, std::size_t index, Stream& stream, int variant,
                         const BenchmarkOptions& options) {
  const OpBase& op = *entry.op;
  const Problem problem(op, op.cases()[index], index);
  Placement placed(problem, stream);
  Timer timer(op, placed.args(), stream, {variant});

  Benchmark b;
  b.op = op.name, b.case_name = problem.info().name, b.device = to_string(stream.device());
  if (variant >= 0) b.variant = entry.variants(stream.device().kind).at(std::size_t(variant)).name;
  b.cost = cost(op, placed.args());

  double once = timer(1);
  if (once < 1) once = timer(1);  // the first call also paid for loading code and touching memory
  b.calls_per_sample =
      int(std::clamp(std::ceil(options.seconds_per_sample / std::max(once, 1e-9)), 1.0, 1e5));
  double spent = 0;
  for (int i = 0; i < options.samples && (i < 3 || spent < options.seconds_per_case); ++i) {
    b.samples.push_back(timer(b.calls_per_sample));
    spent += b.samples.back() * b.calls_per_sample;
  }
  auto sorted = b.samples;
  std::sort(sorted.begin(), sorted.end());
  b.median = quantile(sorted, 0.5), b.lower_quartile = quantile(sorted, 0.25);
  b.upper_quartile = quantile(sorted, 0.75);

  const double bytes = b.cost.bytes_read + b.cost.bytes_written;
  b.bytes_per_second = bytes / b.median, b.flops_per_second = b.cost.flops / b.median;
  b.share = least_seconds(b.cost, problem.info().dtype, stream) / b.median;
  return b;
}

double least_seconds(const Cost& cost, DType dtype, Stream& stream) {
  const DeviceInfo peak = measured_peaks(stream);
  const double flops_peak = peak_flops(peak, cost, dtype);
  const double bytes = cost.bytes_read + cost.bytes_written;
  if (peak.bytes_per_second <= 0) return 0;
  const double memory = bytes / peak.bytes_per_second;
  const bool memory_bound = memory * flops_peak > cost.flops,
             cached = bytes <= cache_bytes(stream.device().kind);
  if (memory_bound && cached) return 0;
  return std::max(cached ? 0 : memory, flops_peak > 0 ? cost.flops / flops_peak : 0);
}

}  // namespace kolmo::check
