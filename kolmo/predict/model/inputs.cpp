#include "kolmo/predict/model/inputs.hpp"

#include <algorithm>

namespace kolmo::predict {
namespace {

constexpr double least_rate = 1e-3;  // of the largest one: rates below count as this one

/// The number of the first block since the training began, from 1 on.
double first_number(const Blocks& b) {
  return std::max(1.0, double(b.end) / double(b.length) - double(b.loss.size()) + 1);
}

}  // namespace

TrainingInputs::TrainingInputs(const Seen& seen, const RateBlocks& to_come, std::size_t from) {
  const std::size_t count = seen.count, all = count + to_come.size();
  const auto rate_of = [&](std::size_t i) { return i < count ? seen.rate()[i] : to_come.rate[i - count]; };
  const auto slope_of = [&](std::size_t i) { return i < count ? seen.slope()[i] : to_come.slope[i - count]; };
  double peak = 0;
  for (std::size_t i = 0; i < all; ++i) peak = std::max(peak, rate_of(i));
  const double least = peak > 0 ? least_rate * peak : 1;
  if (peak == 0) peak = 1;

  double norm = 0;  // mean logarithm of the first gradient norms that are known
  std::size_t norms = 0;
  for (std::size_t i = 0; i < count && norms < 3; ++i)
    if (const double g = seen.gradient_norm()[i]; std::isfinite(g))
      norm += std::log(std::max(g, 1e-6)), ++norms;
  norm /= double(std::max<std::size_t>(norms, 1));

  const double first = first_number(seen.blocks), length = double(seen.blocks.length);
  // Averages begin at their usual values so many blocks before, which is as good as from the first one: 0.93^400 < 2^-40.
  const std::size_t begin = from - std::min<std::size_t>(from, 400);
  LossTrace<double> now{};
  for (std::size_t i = begin; i < all; ++i) {
    double change = 0;
    if (i < count) {
      const double level = std::log(seen.loss()[i]);
      if (i == begin) now = LossTrace<double>::from(level);
      change = level - now.level;
      if (i > begin) now.observe(level);
    }
    if (i < from) continue;
    const double rate = std::max(rate_of(i), least), time = std::log(first + double(i)) / 4;
    const double in_block = std::clamp(length * slope_of(i) / rate, -2.0, 2.0);
    planned.push_back({std::log(rate / peak), in_block, time});
    block.push_back({0, 0, 0, 0, std::log(rate / peak), (std::log(peak) + 6) / 2, time, 0});
    if (i >= count) {
      if (block.size() > 1) block.back()[7] = block[block.size() - 2][7];  // the norm is not predicted
      continue;
    }
    trace.push_back(now);
    now.write(change, block.back().data(), 1);
    if (const double g = seen.gradient_norm()[i]; std::isfinite(g))
      block.back()[7] = (std::log(std::max(g, 1e-6)) - norm) / 2;
  }
}

}  // namespace kolmo::predict
