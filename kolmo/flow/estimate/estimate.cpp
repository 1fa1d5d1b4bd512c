#include "kolmo/flow/estimate/estimate.hpp"

#include <algorithm>
#include <map>

#include "kolmo/flow/data/autocorrelation.hpp"
#include "kolmo/flow/data/variable_key.hpp"
#include "kolmo/flow/estimate/discrete.hpp"
#include "kolmo/flow/estimate/estimate_batch.hpp"
#include "kolmo/flow/estimate/estimate_parts.hpp"
#include "kolmo/flow/estimate/gaussian.hpp"

namespace kolmo {
namespace {

constexpr std::size_t max_dimensions = 16;

/// Throws InvalidArgument if a task has no rows at all.
void require_rows(const EstimationTask& task) {
  if (task.times.empty())
    fail<InvalidArgument>(task.name +
                          ": 0 embedded rows are too few: no row has a value in every column, now and as far "
                          "back as they are embedded");
}

void check_surrogates(const Series& series, const EstimationTask& task, const EstimatorOptions& o) {
  const auto rows = std::int64_t(task.times.size());
  if (o.surrogate_type == SurrogateMethod::block && o.block_length >= rows)
    fail<InvalidArgument>(task.name + ": blocks of " + std::to_string(o.block_length) + " rows of " +
                          std::to_string(rows) + " leave no other order; --block-length must be shorter");
  if (o.surrogate_type == SurrogateMethod::trials) rows_of_trial(series, task.times, task.name);
  const auto several = [](const Coordinates& x) {
    return std::any_of(x.begin(), x.end(), [&](const Coordinate& c) { return c.variable != x[0].variable; });
  };
  const SurrogateKind& kind = kind_of(o.surrogate_type);
  if (kind.of_one_column && std::any_of(task.x.begin(), task.x.end(), several))
    fail<InvalidArgument>(task.name + ": surrogates by " + std::string(kind.name) +
                          " are made of one column, and x has several; phase keeps their relation");
}

void check_other_task(const Series& series, const EstimationTask& task, const EstimatorOptions& o) {
  require_rows(task);
  const std::size_t rows = task.times.size(),
                    dimensions = task.x.at(0).size() + task.y.size() + task.z.size();
  const std::size_t needed = o.estimator == Estimator::gaussian ? dimensions + 1 : 0;
  if (rows <= needed)
    fail<InvalidArgument>(task.name + ": " + std::to_string(rows) + " embedded rows are too few; " +
                          std::to_string(dimensions) + " dimensions need more than " +
                          std::to_string(needed));
  if (!o.surrogates) return;
  if (is_spectral(o.surrogate_type))
    fail<InvalidArgument>(task.name + ": surrogates by " + std::string(kind_of(o.surrogate_type).name) +
                          " are for the estimator ksg");
  check_surrogates(series, task, o);
}

std::vector<Estimates> estimate_on_cpu(const Series& series, std::span<const EstimationTask> tasks,
                                       const EstimatorOptions& options, SurrogateRange draws,
                                       const Stream& stream, Progress* progress = nullptr) {
  if (stream.device().kind != DeviceKind::cpu)
    fail<InvalidArgument>("estimator " + std::string(estimator_names[std::size_t(options.estimator)]) +
                          " runs on the cpu, not on " + to_string(stream.device()));
  return options.estimator == Estimator::gaussian
             ? gaussian_estimates(series, tasks, options, draws, stream, progress)
             : discrete_estimates(series, tasks, options, draws, stream, progress);
}

}  // namespace

std::vector<std::int64_t> tested_times(const Series& series, std::vector<std::int64_t> times,
                                       const EstimatorOptions& o) {
  if (!o.surrogates || o.surrogate_type != SurrogateMethod::trials || series.trial.empty()) return times;
  std::map<std::int32_t, std::int64_t> rows, taken;
  for (const std::int64_t t : times) ++rows[series.trial[std::size_t(t)]];
  std::int64_t least = std::int64_t(times.size());
  for (const auto& [trial, count] : rows) least = std::min(least, count);
  std::vector<std::int64_t> cut;
  for (const std::int64_t t : times)
    if (taken[series.trial[std::size_t(t)]]++ < least) cut.push_back(t);
  return cut;
}

std::int64_t rows_of_trial(const Series& series, std::span<const std::int64_t> times,
                           const std::string& name) {
  if (series.trial.empty()) fail<InvalidArgument>(name + ": surrogates by trials need trials; see --trials");
  std::int64_t length = 0;
  for (std::size_t i = 0, end; i < times.size(); i = end) {
    const std::int32_t trial = series.trial[std::size_t(times[i])];
    for (end = i; end < times.size() && series.trial[std::size_t(times[end])] == trial;) ++end;
    const auto rows = std::int64_t(end - i);
    if (length && rows != length)
      fail<InvalidArgument>(name + ": trial " + std::to_string(trial) + " has " + std::to_string(rows) +
                            " embedded rows and those before it " + std::to_string(length) +
                            "; surrogates by trials need equally many");
    length = rows;
  }
  if (length == std::int64_t(times.size()))
    fail<InvalidArgument>(name + ": surrogates by trials need two trials or more");
  return length;
}

bool tells_nothing(const Series& series, const EstimationTask& task, std::size_t alternative) {
  return are_constant(series, task.x[alternative]) || are_constant(series, task.y);
}

void check_task(const Series& series, const EstimationTask& task, const EstimatorOptions& o) {
  if (o.estimator != Estimator::ksg) return check_other_task(series, task, o);
  require_rows(task);
  const auto rows = std::int64_t(task.times.size()), needed = o.neighbors + 2 * o.theiler;
  if (rows <= needed)
    fail<InvalidArgument>(task.name + ": " + std::to_string(rows) + " embedded rows are too few; " +
                          std::to_string(o.neighbors) + " neighbours and a Theiler window of " +
                          std::to_string(o.theiler) + " need more than " + std::to_string(needed));
  const std::size_t widest = std::max({task.x.at(0).size(), task.y.size(), task.z.size()});
  if (widest > max_dimensions)
    fail<InvalidArgument>(task.name + ": " + std::to_string(widest) +
                          " dimensions are too many; at most 16 are accepted");
  if (o.surrogates) check_surrogates(series, task, o);
}

std::vector<std::int64_t> theiler_times(const Series& series, std::span<const std::int64_t> times,
                                        const EstimatorOptions& o) {
  if (o.theiler == 0 || times.empty()) return {};
  const auto trial = [&](std::int64_t t) { return series.trial.empty() ? 0 : series.trial[std::size_t(t)]; };
  const bool sets = o.theiler_scope == TheilerScope::set;
  std::vector<std::int64_t> all{series.step(times[0])};
  std::int64_t part = 0;
  bool apart = false;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const std::int64_t t = times[i], before = times[i - 1];
    const bool follows = t == before + 1 && !series.begins(std::size_t(t));
    // The offset keeps windows from reaching from one part into the next.
    part += sets ? !follows : trial(t) != trial(before);
    apart |= !follows;
    all.push_back(series.step(t) + part * o.theiler);
  }
  return apart ? all : std::vector<std::int64_t>();
}

std::int64_t settled_shift(std::int64_t rows, std::int64_t length, std::int64_t reach) {
  return std::clamp<std::int64_t>(std::max(length, reach + 1), 1, std::max<std::int64_t>(1, rows / 4));
}

EstimatorOptions settled(EstimatorOptions o, const Series& series, std::int64_t reach) {
  const SurrogateParameter parameter = kind_of(o.surrogate_type).parameter;
  const bool shifts = parameter == SurrogateParameter::min_shift && o.min_shift == 0;
  const bool blocks = parameter == SurrogateParameter::block_length && o.block_length == 0;
  if (!shifts && !blocks) return o;
  std::int64_t length = 0, block = reach + 1;
  for (std::size_t v = 0; v < series.values.size(); ++v) {
    const Autocorrelation a = autocorrelation(column_of(series, v));
    length = std::max(length, a.length), block = std::max(block, a.block_length);
  }
  const auto rows = std::int64_t(embeddable(series, reach).size());
  if (shifts) o.min_shift = settled_shift(rows, length, reach);
  if (blocks) o.block_length = std::clamp<std::int64_t>(block, 1, std::max<std::int64_t>(1, rows / 5));
  return o;
}

EstimatorOptions settled(EstimatorOptions o, const Series& series, std::span<const EstimationTask> tasks) {
  std::int64_t longest = 0;
  for (const EstimationTask& t : tasks) {
    longest = std::max({longest, reach(t.y), reach(t.z)});
    for (const Coordinates& x : t.x) longest = std::max(longest, reach(x));
  }
  const bool shifts_given = !tasks[0].min_shifts.empty() && o.surrogate_type == SurrogateMethod::circular;
  return o.surrogates && !shifts_given ? settled(o, series, longest) : o;
}

SurrogateOptions surrogate_options(const Series& series, const EstimationTask& task,
                                   const EstimatorOptions& o) {
  const bool trials = o.surrogate_type == SurrogateMethod::trials;
  return {kind_of(o.surrogate_type).rows.value(),
          trials ? rows_of_trial(series, task.times, task.name) : o.block_length,
          std::max<std::int64_t>(1, o.min_shift), o.seed};
}

std::vector<std::int64_t> computed_surrogates(const EstimationTask& task, const EstimatorOptions& o,
                                              SurrogateRange draws) {
  std::vector<std::int64_t> different(task.x.size(), draws.surrogates());
  if (o.surrogate_type != SurrogateMethod::circular) return different;
  const std::int64_t before = draws.observed() ? 0 : draws.first - 1;
  for (std::size_t a = 0; a < different.size(); ++a) {
    const std::int64_t all = different_shifts(std::int64_t(task.times.size()), task.min_shift(a, o));
    different[a] = std::clamp<std::int64_t>(all - before, 0, different[a]);
  }
  return different;
}

std::int64_t different_surrogates(const Series& series, std::span<const std::int64_t> times,
                                  const EstimatorOptions& o, std::int64_t most) {
  const auto rows = std::int64_t(times.size());
  const auto orders = [&](std::int64_t blocks) {
    std::int64_t count = 1;
    for (std::int64_t i = 2; i <= blocks && count < most; ++i) count *= i;
    return std::min(count, most);
  };
  switch (o.surrogate_type) {
    case SurrogateMethod::circular:
      return std::min(most, different_shifts(rows, o.min_shift));
    case SurrogateMethod::block:
      return std::min(most,
                      orders((rows + o.block_length - 1) / std::max<std::int64_t>(o.block_length, 1)) * rows);
    case SurrogateMethod::trials:
      return orders(rows / rows_of_trial(series, times, ""));
    default:
      return most;
  }
}

std::vector<Estimates> estimate(const Series& series, std::span<const EstimationTask> tasks,
                                const EstimatorOptions& options, Stream& stream,
                                std::optional<SurrogateRange> draws) {
  if (tasks.empty()) return {};
  const SurrogateRange which = draws.value_or(options.draws());
  if (options.estimator != Estimator::ksg) return estimate_on_cpu(series, tasks, options, which, stream);
  return EstimateBatch(series, tasks, options, which).compute_from_host(stream);
}

Estimates estimate(const Series& series, const EstimationTask& task, const EstimatorOptions& options,
                   const Streams& streams, Progress* progress) {
  if (options.estimator == Estimator::ksg && options.surrogates && streams.size() > 1)
    return estimate_in_parts(series, task, options, streams, progress);
  if (progress && estimates_in_parts(task, options, streams[0].device()))
    return options.estimator == Estimator::ksg
               ? estimate_in_parts(series, task, options, streams, progress)
               : estimate_on_cpu(series, {&task, 1}, options, options.draws(), streams[0], progress)[0];
  return streams.on_one(
      [&](Stream& stream) { return estimate(series, std::span(&task, 1), options, stream)[0]; });
}

bool estimates_in_parts(const EstimationTask& task, const EstimatorOptions& o, Device device) {
  if (!o.surrogates) return false;
  if (o.estimator != Estimator::ksg || is_spectral(o.surrogate_type)) return true;
  return in_host_memory(device) && !shares_neighbor_lists(task, o);
}

std::vector<double> local_values(const Series& series, const EstimationTask& task, EstimatorOptions options,
                                 Stream& stream) {
  require(task.x.size() == 1, "local values: a task has one alternative");
  require(options.bias == Bias::none, "local values: the correction of Miller and Madow is of the mean only");
  options.surrogates = 0;
  check_task(series, task, options);
  if (options.estimator == Estimator::gaussian) return gaussian_local_values(series, task);
  if (options.estimator != Estimator::ksg) return discrete_local_values(series, task, options);
  std::vector<double> values(task.times.size());
  if (tells_nothing(series, task, 0)) return values;
  EstimateBatch(series, {&task, 1}, options, options.draws()).compute_from_host(stream, values.data());
  return values;
}

std::vector<std::int64_t> times_of(const Series& series, const EstimationTask& task,
                                   std::int64_t least_reach) {
  std::vector<Coordinates> all = task.x;
  all.push_back(task.y), all.push_back(task.z);
  for (const Coordinates& c : all) least_reach = std::max(least_reach, reach(c));
  return embeddable(series, variables_of(all), least_reach);
}

EstimationTask transfer_entropy_task(const Series& series, std::int32_t source, std::int32_t target,
                                     const Coordinates& given, const Embedding& source_past,
                                     const Embedding& target_past, std::int64_t lag) {
  const auto name = [&](std::int32_t v) { return series.names[std::size_t(v)]; };
  const auto key = [&](std::int32_t v) { return series.keys[std::size_t(v)]; };
  EstimationTask t{series.file + ": " + name(source) + " -> " + name(target),
                   {past(source, source_past, lag)},
                   {{target, 0}},
                   transfer_entropy_condition(target, target_past, given),
                   {},
                   {random_stream(key(target), key(source))}};
  t.times = times_of(series, t);
  return t;
}

EstimationTask storage_task(const Series& series, std::int32_t variable, const Embedding& embedding) {
  const auto v = std::size_t(variable);
  EstimationTask t{
      series.file + ": storage of " + series.names[v], {{{variable, 0}}}, past(variable, embedding), {}, {},
      {random_stream(series.keys[v], series.keys[v])}};
  t.times = times_of(series, t);
  return t;
}

}  // namespace kolmo
