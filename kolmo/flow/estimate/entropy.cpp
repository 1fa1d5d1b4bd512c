#include "kolmo/flow/estimate/entropy.hpp"

#include "kolmo/base/digamma.hpp"
#include "kolmo/base/log.hpp"
#include "kolmo/flow/estimate/theiler_count.hpp"
#include "kolmo/op/host_call.hpp"
#include "kolmo/ops/info/nearest_neighbors/nearest_neighbors.hpp"

namespace kolmo {
namespace {

template <class T>
std::vector<double> neighbor_distances(const std::vector<double>& points, std::span<const std::int64_t> time,
                                       std::int64_t d, const EstimatorOptions& o, Stream& stream) {
  const auto n = std::int64_t(points.size()) / d;
  std::vector<T> x(points.begin(), points.end());
  std::vector<double> distance(static_cast<std::size_t>(n * o.neighbors));
  NearestNeighborsArgs args;
  args.x = tensor(x.data(), {n, d});
  if (!time.empty()) args.time = tensor(time.data(), {n});
  args.distance = tensor(distance.data(), {n, o.neighbors});
  args.k = o.neighbors, args.theiler = o.theiler;
  call_on_host(nearest_neighbors, args, stream);
  return distance;
}

}  // namespace

double entropy(const Series& series, const Coordinates& coordinates, const EstimatorOptions& o,
               Stream& stream) {
  EstimationTask task;
  task.name = series.file + ": entropy";
  task.x = {coordinates};
  task.times = times_of(series, task);
  check_task(series, task, o);
  for (const Coordinate& c : coordinates)
    if (are_constant(series, {c})) return 0;
  const std::size_t n = task.times.size(), d = coordinates.size(), k = std::size_t(o.neighbors);
  std::vector<double> points(n * d);
  const std::vector<std::int64_t> time = theiler_times(series, task.times, o);
  embed(series, coordinates, task.times, points.data());
  double scale = 0;
  for (std::size_t c = 0; c < d; ++c) {
    const double deviation = series.deviation[std::size_t(coordinates[c].variable)];
    scale += log_exact(deviation * embedded_scaling(series, coordinates[c], task.times).deviation);
  }
  const auto distance = o.f32 ? neighbor_distances<float>(points, time, std::int64_t(d), o, stream)
                              : neighbor_distances<double>(points, time, std::int64_t(d), o, stream);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double eps = 2 * distance[i * k + k - 1];
    if (!(eps > 0))
      fail<InvalidArgument>(task.name + ": row " + std::to_string(task.times[i]) + " and " +
                            std::to_string(k) +
                            " others are equal; the entropy of repeated values is not finite");
    sum += log_exact(eps);
  }
  return digamma_exact(double(n)) + theiler_correction(series, task.times, o) - digamma_exact(double(k)) +
         double(d) * sum / double(n) + scale;
}

}  // namespace kolmo
