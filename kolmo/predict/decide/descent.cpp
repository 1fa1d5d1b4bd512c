#include "kolmo/predict/decide/descent.hpp"

#include <algorithm>

namespace kolmo::predict {

void Descent::add(std::int64_t step, double loss) {
  cut(step - 1);
  losses_.emplace_back(step, loss);
  if (losses_.size() > enough) losses_.erase(losses_.begin());
}

void Descent::cut(std::int64_t step) {
  while (!losses_.empty() && losses_.back().first > step) losses_.pop_back();
}

bool Descent::excludes(double loss, std::int64_t step, std::int64_t longest) const {
  if (losses_.size() < enough || step - losses_.back().first >= longest) return false;
  const auto [last_step, last] = losses_.back();
  double steepest = 0, rise = 0;
  for (std::size_t i = 0; i + 1 < losses_.size(); ++i) {
    steepest = std::max(steepest, (losses_[i].second - last) / double(last_step - losses_[i].first));
    rise = std::max(rise, losses_[i + 1].second - losses_[i].second);
  }
  return last - rise - 2 * steepest * double(step - last_step) > loss;
}

}  // namespace kolmo::predict
