#pragma once
#include <cstddef>
#include <optional>

namespace kolmo::tune {

/// Something that can time configurations, one sample at a time.
class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Called once before the first sample of a configuration: loads code, warms up. Returns seconds per call
  /// as far as they are known by then, else 0. Throws InvalidArgument, Unsupported or OutOfMemory when the
  /// configuration cannot run; it is then left out.
  virtual double prepare(std::size_t /*config*/) { return 0; }
  /// Seconds per call, or nothing when the sample has to be thrown away (clocks throttled, time out).
  virtual std::optional<double> sample(std::size_t config) = 0;
  /// Seconds spent so far in all, on the clock that budgets are meant for.
  virtual double spent() const = 0;
};

}  // namespace kolmo::tune
