#include "kolmo/tune/drift.hpp"

#include <cmath>

namespace kolmo::tune {

bool Drift::add(double seconds) {
  if (!(seconds > 0) || !std::isfinite(seconds)) return false;
  const std::scoped_lock lock(mutex_);
  if (samples_++ == 0) {
    mean_ = seconds;
  } else {  // West's update of an average, with a fixed weight
    const double step = seconds - mean_;
    mean_ += weight * step;
    variance_ = (1 - weight) * (variance_ + weight * step * step);
  }
  if (stale() || samples_ < fewest_samples || mean_ <= alarm * tuned_) return false;
  stale_.store(true, std::memory_order_relaxed);
  return true;
}

double Drift::ratio() const {
  const std::scoped_lock lock(mutex_);
  return samples_ ? mean_ / tuned_ : 1;
}
double Drift::variance() const {
  const std::scoped_lock lock(mutex_);
  return variance_;
}
std::uint64_t Drift::samples() const {
  const std::scoped_lock lock(mutex_);
  return samples_;
}

}  // namespace kolmo::tune
