#include "kolmo/flow/data/embedding.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "kolmo/runtime/cpu/vectors.hpp"

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

bool are_constant(const Series& series, const Coordinates& coordinates) {
  return std::all_of(coordinates.begin(), coordinates.end(), [&](const Coordinate& c) {
    return is_constant(series.values[std::size_t(c.variable)]);
  });
}

namespace {

std::vector<std::int64_t> times_in(const Series& series, std::span<const Stretch> sets, std::int64_t reach) {
  std::vector<std::int64_t> times;
  for (const Stretch& s : sets) {
    const std::size_t first = s.begin + std::size_t(reach), at = times.size();
    if (first >= s.end) continue;
    times.resize(at + s.end - first);
    std::iota(times.begin() + std::ptrdiff_t(at), times.end(), std::int64_t(first));
  }
  if (!series.where.empty())
    std::erase_if(times, [&](std::int64_t t) { return !series.where[std::size_t(t)]; });
  return times;
}

}  // namespace

std::vector<std::int64_t> embeddable(const Series& series, std::span<const std::int32_t> variables,
                                     std::int64_t reach) {
  return times_in(series, stretches(series, variables), reach);
}

std::vector<std::int64_t> embeddable(const Series& series, std::int64_t reach) {
  return times_in(series, stretches(series), reach);
}

std::vector<std::int32_t> variables_of(std::span<const Coordinates> coordinates) {
  std::vector<std::int32_t> all;
  for (const Coordinates& some : coordinates)
    for (const Coordinate& c : some) all.push_back(c.variable);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

namespace {

/// The number of times, from the i-th on and at most `most`, that follow one another row by row.
std::size_t consecutive(std::span<const std::int64_t> times, std::size_t i, std::size_t most) {
  std::size_t count = std::min(most, times.size() - i);
  if (times[i + count - 1] - times[i] == std::int64_t(count) - 1) return count;
  for (count = 1; times[i + count] == times[i] + std::int64_t(count);) ++count;
  return count;
}

}  // namespace

Scaling embedded_scaling(const Series& series, Coordinate c, std::span<const std::int64_t> times) {
  if (series.standardize != Standardize::columns || times.empty()) return {};
  const double* const values = series.values[std::size_t(c.variable)].data();
  if (consecutive(times, 0, times.size()) == times.size())
    return scaling_of({values + times[0] - c.lag, times.size()});
  std::vector<double> column;
  column.reserve(times.size());
  for (const std::int64_t t : times) column.push_back(values[t - c.lag]);
  return scaling_of(column);
}

template <class T>
void embed(const Series& series, const Coordinates& coordinates, std::span<const std::int64_t> times,
           T* rows) {
  constexpr std::size_t together = 256;
  std::array<double, together> part;
  const std::size_t width = coordinates.size();
  for (std::size_t c = 0; c < width; ++c) {
    const auto v = std::size_t(coordinates[c].variable);
    const double* const noise = series.noise[v].empty() ? nullptr : series.noise[v].data();
    const Scaling z = embedded_scaling(series, coordinates[c], times);
    for (std::size_t i = 0, count; i < times.size(); i += count) {
      count = consecutive(times, i, together);
      const std::int64_t at = times[i] - coordinates[c].lag;
      const auto n = std::int64_t(count);
      in_vectors(n, [z, from = series.values[v].data() + at, to = part.data()](auto k) {
        to[k] = (from[k] - z.mean) / z.deviation;
      });
      if (noise) in_vectors(n, [from = noise + at, to = part.data()](auto k) { to[k] += from[k]; });
      for (std::size_t k = 0; k < count; ++k) rows[(i + k) * width + c] = T(part[k]);
    }
  }
}

template void embed(const Series&, const Coordinates&, std::span<const std::int64_t>, double*);
template void embed(const Series&, const Coordinates&, std::span<const std::int64_t>, float*);

}  // namespace kolmo
