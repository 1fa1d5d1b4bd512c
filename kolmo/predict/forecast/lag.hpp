#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kolmo/predict/record/rate_blocks.hpp"

namespace kolmo::predict {

/// The exponential average of the rate, which lags behind it: s_t = d s_(t-1) + (1 - d) rate_t with d = exp(-1 / tau), from
/// s_0 = rate_1 on. Computed block by block, exactly for rates that are linear within each block.
class Lag {
 public:
  /// `tau`: memory in steps. `length`: steps in a block.
  Lag(double tau, std::int64_t length);

  /// Begins with a rate that has been the same for ever.
  void begin(double rate) { s_ = rate; }
  /// The mean of s over the steps of the next block, whose rates have this mean and slope.
  double pass(double rate, double slope) {
    const double mean = s_ * mean_kept_ + rate * (1 - mean_kept_) + slope * mean_slope_;
    s_ = s_ * end_kept_ + rate * (1 - end_kept_) + slope * end_slope_;
    return mean;
  }
  double now() const { return s_; }

 private:
  double s_ = 0;
  double mean_kept_ = 0, mean_slope_ = 0, end_kept_ = 1, end_slope_ = 0;
};

}  // namespace kolmo::predict
