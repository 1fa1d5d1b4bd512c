#include "kolmo/runtime/sample_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace kolmo::monitor {

bool SampleSchedule::begin(double now) noexcept {
  if (since_ == 0) since_ = last_ = now, drawn_ = left_;
  if (now - since_ > memory) since_ = (since_ + now) / 2, spent_ /= 2;
  if (spent_ <= grace || spent_ <= most * (now - since_)) return true;
  draw();
  return false;
}

void SampleSchedule::end(double now, double cost) noexcept {
  constexpr double weight = 0.1;
  spent_ += cost;
  cost_ = cost_ == 0 ? cost : cost_ + weight * (cost - cost_);
  if (const std::int64_t launches = drawn_ - left_; launches > 0 && now > last_) {
    const double interval = (now - last_) / double(launches);
    interval_ = interval_ == 0 ? interval : interval_ + weight * (interval - interval_);
  }
  last_ = now;
  if (interval_ > 0 && cost_ > 0) probability_ = std::clamp(share * interval_ / cost_, 1e-7, 1.0);
  draw();
}

void SampleSchedule::draw() noexcept {
  // xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016
  random_ ^= random_ >> 12, random_ ^= random_ << 25, random_ ^= random_ >> 27;
  const double u = double((random_ * 0x2545F4914F6CDD1DULL >> 11) + 1) * 0x1p-53;  // in (0, 1]
  left_ = probability_ >= 1 ? 1 : 1 + std::int64_t(std::log(u) / std::log1p(-probability_));
  drawn_ = left_;
}

}  // namespace kolmo::monitor
