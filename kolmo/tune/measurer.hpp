#pragma once
#include <cstddef>
#include <optional>

namespace kolmo::tune {

/// Times configurations, one sample at a time.
class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Called once before the first sample of a configuration: loads code and warms up. Returns seconds per
  /// call if they are known by then, else 0. It and sample() throw if the configuration cannot run; see
  /// cannot_run.hpp.
  virtual double prepare(std::size_t /*config*/) { return 0; }
  /// Takes a sample, in seconds per call; empty if the sample is invalid (clocks throttled, time out).
  virtual std::optional<double> sample(std::size_t config) = 0;
  /// Total seconds spent so far, on the clock to which budgets refer.
  virtual double spent() const = 0;
};

}  // namespace kolmo::tune
