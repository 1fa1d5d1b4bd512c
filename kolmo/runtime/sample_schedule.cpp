#include "kolmo/runtime/sample_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace kolmo::monitor {
namespace {

/// Updates a moving average over about ten values, which starts with the first value. An outlier (a pause, an
/// interrupted launch) has little effect.
void follow(double& average, double value) noexcept {
  constexpr double weight = 0.1, steepest = 8;
  average = average == 0 ? value : average + weight * (std::min(value, steepest * average) - average);
}

}  // namespace

void RandomGaps::draw(double probability) noexcept {
  probability_ = probability;
  // xorshift64*, from Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled",
  // 2016.
  random_ ^= random_ >> 12, random_ ^= random_ << 25, random_ ^= random_ >> 27;
  const double u = double((random_ * 0x2545F4914F6CDD1DULL >> 11) + 1) * 0x1p-53;  // in (0, 1]
  left_ = probability_ >= 1 ? 1 : 1 + std::int64_t(std::log(u) / std::log1p(-probability_));
  drawn_ = left_;
}

bool SampleSchedule::begin(double now) noexcept {
  if (since_ == 0) since_ = last_ = now, gaps_.forget();
  if (now - since_ > memory) since_ = (since_ + now) / 2, spent_ /= 2;
  if (spent_ <= grace || spent_ <= most * (now - since_)) return true;
  gaps_.draw(gaps_.probability());
  return false;
}

void SampleSchedule::end(double now, double cost) noexcept {
  spent_ += cost;
  follow(cost_, cost);
  if (const std::int64_t launches = gaps_.launches(); launches > 0 && now > last_)
    follow(interval_, (now - last_) / double(launches));
  last_ = now;
  gaps_.draw(interval_ > 0 && cost_ > 0 ? std::clamp(share * interval_ / cost_, 1e-7, 1.0)
                                        : gaps_.probability());
}

void TimingSchedule::timed(double now) noexcept {
  // This launch contains the last one, and was picked together with it.
  if (gaps_.launches() == 0) return;
  if (last_ > 0 && now > last_) follow(interval_, (now - last_) / double(gaps_.launches()));
  last_ = now;
  gaps_.draw(interval_ > 0 ? std::clamp(share * interval_ / cost, 1e-7, 1.0) : 1);
}

}  // namespace kolmo::monitor
