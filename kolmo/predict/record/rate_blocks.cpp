#include "kolmo/predict/record/rate_blocks.hpp"

#include <algorithm>

namespace kolmo::predict {

void RateBlocker::add(double rate, std::int64_t steps, RateBlocks& to) {
  const double middle = double(length_ - 1) / 2,
               spread = double(length_) * (double(length_) * double(length_) - 1) / 12;
  while (steps > 0) {
    const std::int64_t now = std::min(steps, length_ - open_);
    const double n = double(now), places = n * (double(open_) - middle) + n * (n - 1) / 2;
    rates_ += n * rate;
    moments_ += places * rate;
    sums_ += n * sum_ + n * (n + 1) / 2 * rate;
    sum_ += n * rate;
    open_ += now, steps -= now;
    if (open_ < length_) continue;
    to.rate.push_back(rates_ / double(length_));
    to.slope.push_back(length_ > 1 ? moments_ / spread : 0);
    to.sum.push_back(sums_ / double(length_));
    rates_ = moments_ = sums_ = 0, open_ = 0;
  }
}

}  // namespace kolmo::predict
