#include "kolmo/predict/forecast/calibrator.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/base/normal_quantile.hpp"
#include "kolmo/predict/forecast/student.hpp"

namespace kolmo::predict {
namespace {

constexpr std::size_t noise_blocks = 30;
constexpr double of_spread = 3;
constexpr double enough = 20;  ///< independent errors, from which on their own quantiles are taken

const Quantiles& normal_quantiles() {
  static const Quantiles all = [] {
    Quantiles q{};
    for (std::size_t i = 0; i < quantile_count; ++i) {
      const double level = 2 * quantile_level(i) - 1;
      q[i] = std::copysign(two_sided_quantile(std::fabs(level)), level);
    }
    return q;
  }();
  return all;
}

/// The quantile of a sorted, weighted sample at level p, by which the next value is below with probability p.
double weighted_quantile(std::span<const PastError> sorted, double total, double independent, double p) {
  const double place = std::clamp(p * (1 + 1 / independent) - .5 / independent, 0., 1.) * total;
  double below = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double middle = below + sorted[i].weight / 2;
    if (middle >= place) {
      if (i == 0) return sorted[0].error;
      const double before = below - sorted[i - 1].weight / 2;
      return sorted[i - 1].error +
             (sorted[i].error - sorted[i - 1].error) * (place - before) / (middle - before);
    }
    below += sorted[i].weight;
  }
  return sorted.back().error;
}

/// Returns the number of independent values that a series with correlated neighbours is worth: n (1 - r) / (1 + r), r >= 0.
double uncorrelated(std::span<const PastError> series) {
  double mean = 0, own = 0, neighbours = 0;
  const double n = double(series.size());
  for (const PastError& e : series) mean += e.error / n;
  for (std::size_t i = 0; i < series.size(); ++i) {
    own += (series[i].error - mean) * (series[i].error - mean);
    if (i) neighbours += (series[i].error - mean) * (series[i - 1].error - mean);
  }
  const double r = own > 0 ? std::clamp(neighbours / own, 0., 1.) : 0;
  return n * (1 - r) / (1 + r);
}

Quantiles scaled(Quantiles q, double by) {
  for (double& x : q) x *= by;
  return q;
}

}  // namespace

double noise_of(const Seen& seen) {
  std::vector<double> steps;
  std::size_t after = seen.count, known = 0;  // the known block after this one; how many there were
  for (std::size_t i = seen.count; i-- > 0 && known < noise_blocks;) {
    if (!seen.knows(i)) continue;
    if (known++) steps.push_back(std::fabs(std::log(seen.loss()[after] / seen.loss()[i])));
    after = i;
  }
  if (steps.empty()) return 1e-6;
  const auto middle = steps.begin() + std::ptrdiff_t(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return std::max(1e-6, 1.4826 * *middle / std::sqrt(2.));
}

double error_unit(double noise, const Prediction& prediction, std::size_t i) {
  return prediction.spread.empty() ? noise : std::hypot(noise, of_spread * prediction.spread[i]);
}

Quantiles error_quantiles(std::span<const PastError> errors, double independent) {
  if (errors.size() < 2) return scaled(normal_quantiles(), 2);
  double total = 0, mean = 0, squares = 0;
  for (const PastError& e : errors) total += e.weight, mean += e.weight * e.error;
  mean /= total;
  for (const PastError& e : errors) squares += e.weight * (e.error - mean) * (e.error - mean);
  const double n = std::clamp(independent, 2., double(errors.size()));
  std::vector<PastError> sorted(errors.begin(), errors.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const PastError& a, const PastError& b) { return a.error < b.error; });
  if (n >= enough) {
    Quantiles q{};
    for (std::size_t i = 0; i < quantile_count; ++i)
      q[i] = weighted_quantile(sorted, total, double(sorted.size()), quantile_level(i));
    return q;
  }
  // A few large errors, as of forecasts before the rate first fell, shift the mean and hardly the median.
  const double shrunk = weighted_quantile(sorted, total, n, .5) * n / (n + 3);
  const double deviation = std::sqrt(squares / total * n / (n - 1) * (1 + 1 / n));
  Quantiles q = normal_quantiles();
  for (double& z : q) z = shrunk + student_quantile(z, n - 1) * deviation;
  return q;
}

void Calibrator::add(std::size_t origin, std::size_t known, std::size_t first,
                     std::span<const double> errors) {
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (kept_horizon(first + i) && !std::isnan(errors[i]))
      own_[first + i].push_back({origin, known, errors[i]});
}

void Calibrator::learn(std::map<std::size_t, std::vector<PastError>> errors, double most) {
  learned_ = std::move(errors), learned_weight_ = most;
}

std::span<const Calibrator::Made> Calibrator::errors(std::size_t horizon) const {
  const auto found = own_.find(horizon);
  if (found == own_.end()) return {};
  return found->second;
}

Quantiles Calibrator::quantiles(std::size_t horizon, std::size_t count) const {
  std::vector<PastError> all;
  std::size_t first = 0, last = 0;
  double sum = 0, squares = 0;
  for (const Made& m : errors(horizon)) {
    if (m.origin + horizon > count) continue;
    if (all.empty()) first = m.origin;
    last = m.origin;
    // Origins lie the closer the earlier they are, and late ones tell more of the errors to come.
    const double weight = double(m.known) * double(m.known);
    sum += weight, squares += weight * weight;
    all.push_back({m.error, weight});
  }
  // Forecasts that overlap are not independent, but for the noise of single blocks.
  double independent =
      all.empty() ? 0
                  : std::min(sum * sum / squares,
                             std::max(1 + double(last - first) / double(horizon), uncorrelated(all)));
  for (PastError& e : all) e.weight *= independent / sum;
  if (const auto found = learned_.find(horizon); found != learned_.end() && !found->second.empty()) {
    double total = 0;
    for (const PastError& e : found->second) total += e.weight;
    const double most = std::min(learned_weight_, total);
    for (PastError e : found->second) e.weight *= most / total, all.push_back(e);
    independent += most;
  }
  return error_quantiles(all, independent);
}

std::vector<std::size_t> Calibrator::known(std::size_t longest, std::size_t count) const {
  std::vector<std::size_t> all;
  for (const std::size_t h : kept_horizons(longest)) {
    const auto own = errors(h);
    const bool learned = learned_.contains(h);
    const std::size_t due = std::size_t(
        std::count_if(own.begin(), own.end(), [&](const Made& m) { return m.origin + h <= count; }));
    const bool spread = due > 2 && own[due - 1].origin - own[0].origin >= 4 * h;
    if (learned || spread) all.push_back(h);
  }
  return all;
}

std::size_t Calibrator::reach(std::size_t count) const {
  const std::vector<std::size_t> all = known(count, count);
  return all.empty() ? 0 : all.back();
}

Quantiles Calibrator::at(std::size_t horizon, std::size_t count) const {
  const std::vector<std::size_t> known = this->known(std::max<std::size_t>(horizon, 2) * 2, count);
  if (known.empty()) return scaled(normal_quantiles(), 2 * std::sqrt(double(horizon)));
  const std::size_t above =
      std::size_t(std::lower_bound(known.begin(), known.end(), horizon) - known.begin());
  if (above == known.size())
    return scaled(smooth(known, above - 1, count), std::sqrt(double(horizon) / double(known.back())));
  if (known[above] == horizon || above == 0) return smooth(known, above, count);
  const std::size_t low = known[above - 1], high = known[above];
  const double share = std::log(double(horizon) / double(low)) / std::log(double(high) / double(low));
  const Quantiles a = smooth(known, above - 1, count), b = smooth(known, above, count);
  Quantiles q{};
  for (std::size_t i = 0; i < quantile_count; ++i) q[i] = a[i] + share * (b[i] - a[i]);
  return q;
}

Quantiles Calibrator::smooth(const std::vector<std::size_t>& known, std::size_t i, std::size_t count) const {
  Quantiles q = quantiles(known[i], count);
  if (i == 0 || i + 1 == known.size()) return q;
  const Quantiles before = quantiles(known[i - 1], count), after = quantiles(known[i + 1], count);
  for (std::size_t k = 0; k < quantile_count; ++k)
    q[k] = std::clamp(q[k], std::min(before[k], after[k]), std::max(before[k], after[k]));
  return q;
}

std::string Calibrator::source() const {
  const std::string own =
      own_.empty() ? "" : std::to_string(own_.begin()->second.size()) + " origins in the log's own past";
  if (learned_.empty()) return own.empty() ? "no errors yet: a normal distribution" : own;
  return own.empty() ? "held-out past runs" : "held-out past runs and " + own;
}

std::vector<std::size_t> kept_horizons(std::size_t longest) {
  std::vector<std::size_t> all;
  for (std::size_t h = 1; h <= longest; h = h < 3 ? h + 1 : h < 7 ? h + 2 : h < 10 ? h + 3 : h + h / 3)
    all.push_back(h);
  return all;
}

bool kept_horizon(std::size_t horizon) {
  const std::vector<std::size_t> all = kept_horizons(horizon);
  return !all.empty() && all.back() == horizon;
}

}  // namespace kolmo::predict
