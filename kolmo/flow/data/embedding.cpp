#include "kolmo/flow/data/embedding.hpp"

#include <algorithm>

namespace kolmo {

Coordinates past(std::int32_t variable, const Embedding& e, std::int64_t lag) {
  Coordinates c;
  for (std::int64_t i = 0; i < e.history; ++i) c.push_back({variable, e.back(i, lag)});
  return c;
}

Coordinates transfer_entropy_condition(std::int32_t target, const Embedding& target_past,
                                       const Coordinates& given) {
  Coordinates c = past(target, target_past);
  c.insert(c.end(), given.begin(), given.end());
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

template <class T>
void embed(const Series& series, const Coordinates& coordinates, std::span<const std::int64_t> times,
           T* rows) {
  struct Column {
    const double *values, *noise;
    Scaling z;
    std::int64_t lag;
  };
  std::vector<Column> columns;
  for (const Coordinate& c : coordinates) {
    const auto v = std::size_t(c.variable);
    columns.push_back(
        {series.values[v].data(), series.noise[v].data(), embedded_scaling(series, c, times), c.lag});
  }
  const auto width = std::int64_t(columns.size());
  for (std::size_t i = 0; i < times.size(); ++i)
    embed_row(
        rows + std::int64_t(i) * width, width, times[i],
        [&](std::int64_t c) { return columns[std::size_t(c)].lag; },
        [&](std::int64_t c, std::int64_t at) {
          const Column& from = columns[std::size_t(c)];
          return (from.values[at] - from.z.mean) / from.z.deviation + from.noise[at];
        });
}

template void embed(const Series&, const Coordinates&, std::span<const std::int64_t>, double*);
template void embed(const Series&, const Coordinates&, std::span<const std::int64_t>, float*);

}  // namespace kolmo
