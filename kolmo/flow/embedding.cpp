#include "kolmo/flow/embedding.hpp"

#include <algorithm>

namespace kolmo {

Coordinates past(std::int32_t variable, const Embedding& e, std::int64_t lag) {
  Coordinates c;
  for (std::int64_t i = 0; i < e.history; ++i) c.push_back({variable, lag + i * e.tau});
  return c;
}

std::int64_t reach(const Coordinates& coordinates) {
  std::int64_t r = 0;
  for (const Coordinate& c : coordinates) r = std::max(r, c.lag);
  return r;
}

std::vector<std::int64_t> embeddable(const Series& series, std::int64_t reach) {
  std::vector<std::int64_t> times;
  for (std::int64_t t = reach; t < series.rows(); ++t) {
    const std::int32_t set = series.set[std::size_t(t)];
    if (set >= 0 && series.set[std::size_t(t - reach)] == set) times.push_back(t);
  }
  return times;
}

Scaling embedded_scaling(const Series& series, Coordinate c, std::span<const std::int64_t> times) {
  if (series.standardize != Standardize::columns) return {};
  const auto& values = series.values[std::size_t(c.variable)];
  std::vector<double> column;
  column.reserve(times.size());
  for (const std::int64_t t : times) column.push_back(values[std::size_t(t - c.lag)]);
  return scaling_of(column);
}

void embed(const Series& series, Coordinate c, std::span<const std::int64_t> times, double* out,
           std::int64_t stride) {
  const auto& values = series.values[std::size_t(c.variable)];
  const auto& noise = series.noise[std::size_t(c.variable)];
  const Scaling z = embedded_scaling(series, c, times);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto from = std::size_t(times[i] - c.lag);
    out[std::int64_t(i) * stride] = (values[from] - z.mean) / z.deviation + noise[from];
  }
}

}  // namespace kolmo
