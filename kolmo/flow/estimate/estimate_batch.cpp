#include "kolmo/flow/estimate/estimate_batch.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "kolmo/flow/data/noise.hpp"
#include "kolmo/flow/estimate/theiler_count.hpp"
#include "kolmo/op/host_call.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo {

EstimateBatch::EstimateBatch(const Series& series, std::span<const EstimationTask> tasks,
                             const EstimatorOptions& options, SurrogateRange draws)
    : series_(&series), tasks_(tasks), options_(options), draws_(draws) {
  require(!tasks.empty(), "estimate: a batch has one task or more");
  require(options.estimator == Estimator::ksg, "estimate: batches are of the estimator ksg");
  options_ = settled(options, series, tasks);
  timed_ = std::any_of(tasks.begin(), tasks.end(), [&](const EstimationTask& t) {
    return !theiler_times(series, t.times, options).empty();
  });
  shifts_differ_ =
      rearranges() && options.surrogate_type == SurrogateMethod::circular && !tasks[0].min_shifts.empty();
  alternatives_ = std::int64_t(tasks[0].x.size());
  dx_ = std::int64_t(tasks[0].x.at(0).size());
  dy_ = std::int64_t(tasks[0].y.size());
  const auto conditional = [&](const EstimationTask& t) { return !are_constant(series, t.z); };
  dz_ = std::any_of(tasks.begin(), tasks.end(), conditional) ? std::int64_t(tasks[0].z.size()) : 0;
  for (const EstimationTask& t : tasks) {
    check_task(series, t, options_);
    if (options.surrogates && options.surrogate_type == SurrogateMethod::trials) {
      const std::int64_t before = std::exchange(rows_of_trial_, rows_of_trial(series, t.times, t.name));
      require(!before || before == rows_of_trial_,
              "estimate: the tasks of a batch differ in the rows of a trial");
    }
    require(std::int64_t(t.x.size()) == alternatives_ && t.streams.size() == t.x.size(),
            "estimate: the tasks of a batch differ in their number of alternatives");
    require(t.min_shifts.size() == (tasks[0].min_shifts.empty() ? 0 : t.x.size()),
            "estimate: the tasks of a batch differ in their number of shortest shifts");
    const bool equal = std::int64_t(t.y.size()) == dy_ && t.z.size() == tasks[0].z.size() &&
                       std::all_of(t.x.begin(), t.x.end(),
                                   [&](const Coordinates& x) { return std::int64_t(x.size()) == dx_; });
    require(equal, "estimate: the tasks of a batch differ in dimensions");
    rows_ += std::int64_t(t.times.size());
  }
  bytes_ = {layout().end, std::size_t(values()) * sizeof(double)};
}

EstimateBatch::Layout EstimateBatch::layout() const {
  std::size_t at = 0;
  const auto place = [&](std::int64_t count, std::size_t size) {
    constexpr std::size_t alignment = 128;
    const std::size_t from = at;
    at = (at + std::size_t(count) * size + alignment - 1) / alignment * alignment;
    return from;
  };
  const std::size_t real = options_.f32 ? sizeof(float) : sizeof(double);
  const auto tasks = std::int64_t(tasks_.size());
  Layout l;
  l.x = place(alternatives_ * copies() * rows_ * dx_, real);
  l.y = place(rows_ * dy_, real);
  l.z = place(rows_ * dz_, real);
  l.time = place(timed_ ? rows_ : 0, sizeof(std::int64_t));
  l.segments = place(tasks + 1, sizeof(std::int64_t));
  l.streams = place(tasks * alternatives_ * copies(), sizeof(std::int64_t));
  l.min_shifts = place(shifts_differ_ ? tasks * alternatives_ : 0, sizeof(std::int64_t));
  l.end = at;
  return l;
}

template <class T>
void EstimateBatch::write_coordinates(std::byte* input, int threads) const {
  const Layout l = layout();
  struct Block {
    const Coordinates* coordinates;
    std::span<const std::int64_t> times;
    T* to;
    bool as_noise;
  };
  std::vector<Block> blocks;
  const auto put = [&](const Coordinates& coordinates, std::span<const std::int64_t> times, std::size_t block,
                       std::int64_t row, bool as_noise) {
    T* const to = reinterpret_cast<T*>(input + block) + row * std::int64_t(coordinates.size());
    blocks.push_back({&coordinates, times, to, as_noise});
  };
  std::int64_t row = 0;
  for (const EstimationTask& t : tasks_) {
    for (std::size_t b = 0; b < t.x.size() && (draws_.observed() || !spectral()); ++b)
      put(t.x[b], t.times, l.x, std::int64_t(b) * copies() * rows_ + row, are_constant(*series_, t.x[b]));
    if (spectral()) write_spectral(t, row, reinterpret_cast<T*>(input + l.x));
    const bool nothing = are_constant(*series_, t.y);
    put(t.y, t.times, l.y, row, nothing);
    if (dz_) put(t.z, t.times, l.z, row, nothing);
    row += std::int64_t(t.times.size());
  }
  // Where a task tells nothing, noise takes the place of equal points, which would take long; read() gives 0 for it.
  parallel_for(threads, std::int64_t(blocks.size()), [&](std::int64_t i, int) {
    const Block& b = blocks[std::size_t(i)];
    if (b.as_noise)
      std::generate_n(b.to, b.times.size() * b.coordinates->size(),
                      [e = 0]() mutable { return T(element_noise(0, 0, e++)); });
    else
      embed(*series_, *b.coordinates, b.times, b.to);
  });
}

/// Alternatives next to each other that are shuffled alike, such as the lags of a source, share their surrogates.
template <class T>
void EstimateBatch::write_spectral(const EstimationTask& task, std::int64_t row, T* x) const {
  const auto variables = [&](std::size_t b) {
    std::vector<std::int32_t> all;
    for (const Coordinate& c : task.x[b])
      if (std::find(all.begin(), all.end(), c.variable) == all.end()) all.push_back(c.variable);
    return all;
  };
  for (std::size_t b = 0, end; b < task.x.size(); b = end) {
    const std::vector<std::int32_t> shuffled = variables(b);
    for (end = b + 1;
         end < task.x.size() && task.streams[end] == task.streams[b] && variables(end) == shuffled;)
      ++end;
    const SpectralSurrogates surrogates(*series_, shuffled, options_.surrogate_type, options_.seed);
    for (std::int64_t s = draws_.observed(); s < draws_.count; ++s) {
      const Series made = surrogates.make(task.streams[b], draws_.first + s);
      for (std::size_t i = b; i < end; ++i)
        embed(made, task.x[i], task.times, x + ((std::int64_t(i) * draws_.count + s) * rows_ + row) * dx_);
    }
  }
}

void EstimateBatch::write(std::byte* input, int threads) const {
  if (tasks_.empty()) return;
  if (options_.f32)
    write_coordinates<float>(input, threads);
  else
    write_coordinates<double>(input, threads);
  const Layout l = layout();
  auto* time = reinterpret_cast<std::int64_t*>(input + l.time);
  auto* segment = reinterpret_cast<std::int64_t*>(input + l.segments);
  auto* stream = reinterpret_cast<std::int64_t*>(input + l.streams);
  auto* min_shift = reinterpret_cast<std::int64_t*>(input + l.min_shifts);
  std::int64_t row = *segment++ = 0;
  for (const EstimationTask& t : tasks_) {
    const std::vector<std::int64_t> times = theiler_times(*series_, t.times, options_);
    if (timed_) time = std::copy_n((times.empty() ? t.times : times).begin(), t.times.size(), time);
    *segment++ = row += std::int64_t(t.times.size());
    for (const std::int64_t s : t.streams) stream = std::fill_n(stream, copies(), s);
    if (shifts_differ_) min_shift = std::copy(t.min_shifts.begin(), t.min_shifts.end(), min_shift);
  }
}

KsgConditionalMutualInformationArgs EstimateBatch::arguments(std::byte* input, std::byte* output,
                                                             double* local, Device device) const {
  const Layout l = layout();
  const DType real = options_.f32 ? DType::f32 : DType::f64;
  const auto tasks = std::int64_t(tasks_.size()), all = alternatives_ * copies();
  const auto at = [&](std::byte* data, DType dtype, std::initializer_list<std::int64_t> shape) {
    return tensor(static_cast<void*>(data), dtype, shape, device);
  };
  KsgConditionalMutualInformationArgs args;
  args.x = at(input + l.x, real, {all, rows_, dx_});
  args.y = at(input + l.y, real, {rows_, dy_});
  if (dz_) args.z = at(input + l.z, real, {rows_, dz_});
  if (timed_) args.time = at(input + l.time, DType::i64, {rows_});
  if (tasks > 1) args.segments = at(input + l.segments, DType::i64, {tasks + 1});
  args.streams = at(input + l.streams, DType::i64, {tasks, all});
  if (shifts_differ_) args.min_shifts = at(input + l.min_shifts, DType::i64, {tasks, all});
  args.value = at(output, DType::f64, {tasks, all, made_by_operator()});
  if (local) args.local = at(reinterpret_cast<std::byte*>(local), DType::f64, {all, rows_});
  args.k = options_.neighbors, args.theiler = options_.theiler, args.algorithm = options_.algorithm;
  args.surrogates = made_by_operator() - 1, args.seed = options_.seed;
  if (rearranges()) {
    args.first = draws_.first;
    const SurrogateOptions how = surrogate_options(*series_, tasks_[0], options_);
    args.surrogate_type = how.type, args.min_shift = how.min_shift, args.block_length = how.block_length;
  }
  return args;
}

void EstimateBatch::compute(std::byte* input, std::byte* output, Stream& stream) const {
  if (tasks_.empty()) return;
  ksg_conditional_mutual_information(arguments(input, output, nullptr, stream.device()), stream);
}

std::vector<Estimates> EstimateBatch::compute_from_host(Stream& stream, double* local) const {
  const auto input = std::make_unique_for_overwrite<std::byte[]>(bytes_.input);
  std::vector<std::byte> output(bytes_.output);
  write(input.get(), stream.threads());
  if (!tasks_.empty())
    call_on_host(ksg_conditional_mutual_information, arguments(input.get(), output.data(), local, Device()),
                 stream);
  if (local && !dz_) {
    for (const EstimationTask& t : tasks_) {
      const std::vector<double> corrections = theiler_corrections(*series_, t.times, options_);
      for (std::size_t i = 0; i < corrections.size(); ++i)
        for (std::int64_t a = 0; a < alternatives_; ++a) local[a * rows_ + std::int64_t(i)] += corrections[i];
      local += t.times.size();
    }
  }
  return read(output.data());
}

std::vector<Estimates> EstimateBatch::read(const std::byte* output) const {
  const auto width = std::size_t(alternatives_ * draws_.count);
  std::vector<Estimates> results(tasks_.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i] = {draws_, computed_surrogates(tasks_[i], options_, draws_), std::vector<double>(width), {}};
    std::memcpy(results[i].values.data(), output + i * width * sizeof(double), width * sizeof(double));
    if (const double correction = dz_ ? 0 : theiler_correction(*series_, tasks_[i].times, options_))
      for (double& value : results[i].values) value += correction;
    for (std::size_t a = 0, each = width / tasks_[i].x.size(); a < tasks_[i].x.size(); ++a)
      if (tells_nothing(*series_, tasks_[i], a))
        std::fill_n(results[i].values.begin() + std::ptrdiff_t(a * each), each, 0);
  }
  return results;
}

}  // namespace kolmo
