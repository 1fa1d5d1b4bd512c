#include "kolmo/flow/estimate.hpp"

#include <algorithm>

#include "kolmo/flow/device_call.hpp"
#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"

namespace kolmo {
namespace {

constexpr std::size_t max_dimensions = 16;

/// A batch in the layout of the operator: problems one after the other along the rows.
template <class T>
struct Batch {
  std::int64_t tasks, alternatives, rows = 0, dx, dy, dz;
  std::vector<T> x, y, z;
  std::vector<std::int32_t> set;
  std::vector<std::int64_t> segments{0}, streams;

  Batch(const Series& series, std::span<const EstimationTask> all)
      : tasks(std::int64_t(all.size())),
        alternatives(std::int64_t(all[0].x.size())),
        dx(std::int64_t(all[0].x[0].size())),
        dy(std::int64_t(all[0].y.size())),
        dz(std::int64_t(all[0].z.size())) {
    for (const EstimationTask& t : all) segments.push_back(rows += std::int64_t(t.times.size()));
    x.resize(std::size_t(alternatives * rows * dx));
    y.resize(std::size_t(rows * dy));
    z.resize(std::size_t(rows * dz));
    for (std::size_t i = 0; i < all.size(); ++i) add(series, all[i], segments[i]);
  }

 private:
  void add(const Series& series, const EstimationTask& task, std::int64_t row) {
    for (std::size_t b = 0; b < task.x.size(); ++b)
      write(series, task.x[b], task.times, x.data() + (std::int64_t(b) * rows + row) * dx, dx);
    write(series, task.y, task.times, y.data() + row * dy, dy);
    write(series, task.z, task.times, z.data() + row * dz, dz);
    for (const std::int64_t t : task.times) set.push_back(series.set[std::size_t(t)]);
    streams.insert(streams.end(), task.streams.begin(), task.streams.end());
  }
  void write(const Series& series, const Coordinates& coordinates, std::span<const std::int64_t> times,
             T* out, std::int64_t width) {
    require(std::int64_t(coordinates.size()) == width, "estimate: the tasks of a batch differ in dimensions");
    std::vector<double> column(times.size());
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
      embed(series, coordinates[d], times, column.data(), 1);
      for (std::size_t i = 0; i < times.size(); ++i)
        out[std::int64_t(i) * width + std::int64_t(d)] = T(column[i]);
    }
  }
};

template <class T>
std::vector<double> compute(const Series& series, std::span<const EstimationTask> tasks,
                            const EstimatorOptions& o, Stream& stream) {
  Batch<T> b(series, tasks);
  std::vector<double> value(std::size_t(b.tasks * b.alternatives * (1 + o.surrogates)));
  KsgConditionalMutualInformationArgs args;
  args.x = tensor(b.x.data(), {b.alternatives, b.rows, b.dx});
  args.y = tensor(b.y.data(), {b.rows, b.dy});
  if (b.dz) args.z = tensor(b.z.data(), {b.rows, b.dz});
  if (series.sets > 1) args.set = tensor(b.set.data(), {b.rows});
  if (b.tasks > 1) args.segments = tensor(b.segments.data(), {b.tasks + 1});
  args.streams = tensor(b.streams.data(), {b.tasks, b.alternatives});
  args.value = tensor(value.data(), {b.tasks, b.alternatives, 1 + o.surrogates});
  args.k = o.neighbors, args.theiler = o.theiler, args.surrogates = o.surrogates;
  args.block_length = o.block_length, args.seed = o.seed;
  args.algorithm = o.algorithm, args.surrogate_type = o.surrogate_type;
  device_call(ksg_conditional_mutual_information, args, stream);
  return value;
}

}  // namespace

void check_task(const EstimationTask& task, const EstimatorOptions& o) {
  const auto rows = std::int64_t(task.times.size()), needed = o.neighbors + 2 * o.theiler;
  if (rows <= needed)
    fail<InvalidArgument>(task.name + ": " + std::to_string(rows) + " embedded rows are too few; " +
                          std::to_string(o.neighbors) + " neighbours and a Theiler window of " +
                          std::to_string(o.theiler) + " need more than " + std::to_string(needed));
  const std::size_t widest = std::max({task.x.at(0).size(), task.y.size(), task.z.size()});
  if (widest > max_dimensions)
    fail<InvalidArgument>(task.name + ": " + std::to_string(widest) +
                          " dimensions are too many; at most 16 are accepted");
}

std::vector<Estimates> estimate(const Series& series, std::span<const EstimationTask> tasks,
                                const EstimatorOptions& options, Stream& stream) {
  if (tasks.empty()) return {};
  for (const EstimationTask& t : tasks) {
    check_task(t, options);
    require(t.x.size() == tasks[0].x.size() && t.streams.size() == t.x.size(),
            "estimate: the tasks of a batch differ in their number of alternatives");
  }
  const std::vector<double> all = options.f32 ? compute<float>(series, tasks, options, stream)
                                              : compute<double>(series, tasks, options, stream);
  const auto width = std::ptrdiff_t(all.size() / tasks.size());
  std::vector<Estimates> results;
  for (auto from = all.begin(); from != all.end(); from += width)
    results.push_back({options.surrogates, {from, from + width}});
  return results;
}

Estimates estimate(const Series& series, const EstimationTask& task, const EstimatorOptions& options,
                   Stream& stream) {
  return estimate(series, std::span(&task, 1), options, stream)[0];
}

EstimationTask transfer_entropy_task(const Series& series, std::int32_t source, std::int32_t target,
                                     std::span<const std::int32_t> given, const Embedding& source_past,
                                     const Embedding& target_past, std::int64_t lag) {
  const auto name = [&](std::int32_t v) { return series.names[std::size_t(v)]; };
  const auto number = [&](std::int32_t v) { return series.numbers[std::size_t(v)]; };
  EstimationTask t{series.file + ": " + name(source) + " -> " + name(target),
                   {past(source, source_past, lag)},
                   {{target, 0}},
                   past(target, target_past),
                   {},
                   {random_stream(number(target), number(source))}};
  for (const std::int32_t g : given) t.z.push_back({g, 1});
  t.times = embeddable(series, std::max(reach(t.x[0]), reach(t.z)));
  return t;
}

EstimationTask storage_task(const Series& series, std::int32_t variable, const Embedding& embedding) {
  const auto v = std::size_t(variable);
  EstimationTask t{series.file + ": storage of " + series.names[v],
                   {{{variable, 0}}},
                   past(variable, embedding),
                   {},
                   {},
                   {random_stream(series.numbers[v], series.numbers[v])}};
  t.times = embeddable(series, reach(t.y));
  return t;
}

}  // namespace kolmo
