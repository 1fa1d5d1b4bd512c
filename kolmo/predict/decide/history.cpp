#include "kolmo/predict/decide/history.hpp"

#include <algorithm>
#include <cmath>

namespace kolmo::predict {
namespace {

constexpr std::size_t shortest_tier = 10;

}  // namespace

History::History(Forecasters forecasters, std::size_t longest, std::size_t stride)
    : forecasters_(std::move(forecasters)),
      calibrators_(forecasters_.size()),
      scores_(forecasters_.size()),
      stride_(stride) {
  for (std::size_t first = 1, last = shortest_tier; first <= longest; first = last + 1, last *= 4)
    tiers_.push_back({first, last, first_origin});
}

void History::update(const Blocks& blocks) {
  if (blocks.restarts != restarts_) {
    restarts_ = blocks.restarts;
    for (Calibrator& c : calibrators_) c.forget();
    for (auto& s : scores_) s.clear();
    for (Tier& tier : tiers_) tier.next = first_origin;
  }
  count_ = blocks.loss.size();
  for (Tier& tier : tiers_)
    each_origin(blocks, tier.next, tier.last, [&](std::size_t origin) { forecast(blocks, origin, tier); });
}

template <class Use>
void History::each_origin(const Blocks& blocks, std::size_t& next, std::size_t ahead, const Use& use) {
  while (next + ahead <= count_) {
    if (!blocks.knows(next - 1)) {
      ++next;
      continue;
    }
    use(next);
    next += std::max(stride_, Seen{blocks, next}.known() / 32);
  }
}

void History::forecast(const Blocks& blocks, std::size_t origin, const Tier& tier) {
  const Seen seen{blocks, origin};
  const RateBlocks came = rates_of(blocks, origin, tier.last);
  const double noise = noise_of(seen),
               weight = double(seen.known());  // origins lie the closer the earlier they are
  std::map<std::size_t, double> persistence;   // by horizon
  for (std::size_t f = 0; f < forecasters_.size(); ++f) {
    if (!forecasters_[f]->able(seen)) continue;
    const Prediction prediction = forecasters_[f]->predict(seen, came);
    std::vector<double> errors;
    for (std::size_t h = tier.first; h <= tier.last; ++h) {
      const double unit = error_unit(noise, prediction, h - 1);
      const double error = blocks.knows(origin + h - 1)
                               ? (std::log(blocks.loss[origin + h - 1]) - prediction.centres[h - 1]) / unit
                               : unknown;
      errors.push_back(error);
      if (!kept_horizon(h) || std::isnan(error)) continue;
      const Quantiles quantiles = calibrators_[f].at(h, origin);
      const double crps = unit * crps_of(quantiles, error);
      if (f == 0) persistence[h] = crps;
      Score& score = scores_[f][h];
      score.crps += weight * crps, score.persistence += weight * persistence[h], score.weight += weight,
          ++score.count;
      if (quantiles.front() <= error && error <= quantiles.back()) score.covered += weight;
    }
    calibrators_[f].add(origin, seen.known(), tier.first, errors);
  }
}

double crps_of(const Quantiles& quantiles, double value) {
  double sum = 0;
  for (std::size_t i = 0; i < quantile_count; ++i) {
    const double level = quantile_level(i), off = value - quantiles[i];
    sum += std::max(level * off, (level - 1) * off);
  }
  return 2 * sum / double(quantile_count);
}

RateBlocks rates_of(const RateBlocks& blocks, std::size_t first, std::size_t count) {
  const auto part = [&](const std::vector<double>& v) {
    const auto begin = v.begin() + std::ptrdiff_t(first);
    return std::vector<double>(begin, begin + std::ptrdiff_t(count));
  };
  return {part(blocks.rate), part(blocks.slope), part(blocks.sum)};
}

}  // namespace kolmo::predict
