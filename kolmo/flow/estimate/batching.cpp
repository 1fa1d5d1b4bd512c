#include "kolmo/flow/estimate/batching.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/knn/listed.hpp"

namespace kolmo {

BatchLimits BatchLimits::of(DeviceKind kind, std::int64_t rows) {
  BatchLimits l;
  const bool gpu = kind == DeviceKind::cuda;
  if (gpu) l.first_work = 1e8;
  if (rows > knn::most_listed_rows) {
    l.least_work = gpu ? 0x1p24 : 0;
    return l;
  }
  // Building the neighbour lists takes as long as some 50 estimates on a GPU, and as 5 on a CPU. Estimates
  // with 2^24 points in total keep every multiprocessor of today's GPUs busy for several rounds of blocks.
  l.least_estimates = gpu ? 64 * knn::fewest_listed_estimates : 8 * knn::fewest_listed_estimates;
  l.least_work = gpu ? 0x1p24 : 0;
  l.most_rows = knn::most_listed_rows;
  return l;
}

Batching::Batching(const BatchLimits& limits, std::int64_t estimates, std::int64_t rows, double bytes)
    : limits_(limits), rows_(rows), seconds_(std::min(0.125, limits.seconds)) {
  link(estimates, bytes);
}

void Batching::link(std::int64_t estimates, double bytes) {
  link_work_ = double(estimates) * double(rows_);
  const auto at_least = [](double share) { return std::int64_t(std::ceil(std::clamp(share, 1.0, 1e12))); };
  most_links_ = std::int64_t(std::clamp(limits_.most_bytes / bytes, 1.0, 1e12));
  least_links_ = std::min(most_links_, std::max(at_least(double(limits_.least_estimates) / double(estimates)),
                                                at_least(limits_.least_work / link_work_)));
}

std::int64_t Batching::fit(double work, std::int64_t count) const {
  return std::int64_t(std::clamp(std::min(rate_ * seconds_, most_work_) / work, 1.0, double(count)));
}

BatchSize Batching::next(std::int64_t links, std::int64_t alike) const {
  const std::int64_t wanted = std::clamp(fit(link_work_, most_links_), least_links_, most_links_);
  if (wanted >= links) {
    const std::int64_t targets = std::min({alike, wanted / links, limits_.most_rows / rows_});
    return {std::max<std::int64_t>(1, targets), links};
  }
  const std::int64_t parts = std::max((links + wanted / 2) / wanted, (links + most_links_ - 1) / most_links_);
  return {1, (links + parts - 1) / parts};
}

void Batching::took(double work, double seconds) {
  rate_ = work / std::max(seconds, 1e-6);
  seconds_ = std::min(limits_.seconds, 2 * seconds_);
}

}  // namespace kolmo
