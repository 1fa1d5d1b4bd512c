#include "kolmo/predict/forecast/lag.hpp"

#include <cmath>

namespace kolmo::predict {

Lag::Lag(double tau, std::int64_t length) {
  const double d = std::exp(-1 / tau), n = double(length);
  double s = 0;
  for (std::int64_t j = 0; j < length; ++j) {  // the answer to a slope of 1 and a mean of 0
    s = d * s + (1 - d) * (double(j) - (n - 1) / 2);
    end_kept_ *= d;
    mean_kept_ += end_kept_ / n;
    mean_slope_ += s / n;
  }
  end_slope_ = s;
}

}  // namespace kolmo::predict
