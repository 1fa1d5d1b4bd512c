#include "kolmo/flow/estimate_batch.hpp"

#include <cstring>

namespace kolmo {

EstimateBatch::EstimateBatch(const Series& series, std::span<const EstimationTask> tasks,
                             const EstimatorOptions& options)
    : series_(&series), tasks_(tasks), options_(options) {
  require(!tasks.empty(), "estimate: a batch has one task or more");
  alternatives_ = std::int64_t(tasks[0].x.size());
  dx_ = std::int64_t(tasks[0].x.at(0).size());
  dy_ = std::int64_t(tasks[0].y.size());
  dz_ = std::int64_t(tasks[0].z.size());
  for (const EstimationTask& t : tasks) {
    check_task(t, options);
    require(std::int64_t(t.x.size()) == alternatives_ && t.streams.size() == t.x.size(),
            "estimate: the tasks of a batch differ in their number of alternatives");
    const bool equal = std::int64_t(t.y.size()) == dy_ && std::int64_t(t.z.size()) == dz_ &&
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
  l.x = place(alternatives_ * rows_ * dx_, real);
  l.y = place(rows_ * dy_, real);
  l.z = place(rows_ * dz_, real);
  l.set = place(rows_, sizeof(std::int32_t));
  l.segments = place(tasks + 1, sizeof(std::int64_t));
  l.streams = place(tasks * alternatives_, sizeof(std::int64_t));
  l.end = at;
  return l;
}

template <class T>
void EstimateBatch::write_coordinates(std::byte* input) const {
  const Layout l = layout();
  std::vector<double> column;
  const auto put = [&](const Coordinates& coordinates, std::span<const std::int64_t> times, std::size_t block,
                       std::int64_t row) {
    const auto width = std::int64_t(coordinates.size());
    T* const out = reinterpret_cast<T*>(input + block) + row * width;
    column.resize(times.size());
    for (std::int64_t d = 0; d < width; ++d) {
      embed(*series_, coordinates[std::size_t(d)], times, column.data(), 1);
      for (std::size_t i = 0; i < times.size(); ++i) out[std::int64_t(i) * width + d] = T(column[i]);
    }
  };
  std::int64_t row = 0;
  for (const EstimationTask& t : tasks_) {
    for (std::size_t b = 0; b < t.x.size(); ++b) put(t.x[b], t.times, l.x, std::int64_t(b) * rows_ + row);
    put(t.y, t.times, l.y, row);
    put(t.z, t.times, l.z, row);
    row += std::int64_t(t.times.size());
  }
}

void EstimateBatch::write(std::byte* input) const {
  if (tasks_.empty()) return;
  if (options_.f32)
    write_coordinates<float>(input);
  else
    write_coordinates<double>(input);
  const Layout l = layout();
  auto* set = reinterpret_cast<std::int32_t*>(input + l.set);
  auto* segment = reinterpret_cast<std::int64_t*>(input + l.segments);
  auto* stream = reinterpret_cast<std::int64_t*>(input + l.streams);
  std::int64_t row = *segment++ = 0;
  for (const EstimationTask& t : tasks_) {
    for (const std::int64_t time : t.times) *set++ = series_->set[std::size_t(time)];
    *segment++ = row += std::int64_t(t.times.size());
    stream = std::copy(t.streams.begin(), t.streams.end(), stream);
  }
}

void EstimateBatch::compute(std::byte* input, std::byte* output, Stream& stream) const {
  if (tasks_.empty()) return;
  const Layout l = layout();
  const DType real = options_.f32 ? DType::f32 : DType::f64;
  const auto tasks = std::int64_t(tasks_.size());
  const auto at = [&](std::byte* data, DType dtype, std::initializer_list<std::int64_t> shape) {
    return tensor(static_cast<void*>(data), dtype, shape, stream.device());
  };
  KsgConditionalMutualInformationArgs args;
  args.x = at(input + l.x, real, {alternatives_, rows_, dx_});
  args.y = at(input + l.y, real, {rows_, dy_});
  if (dz_) args.z = at(input + l.z, real, {rows_, dz_});
  if (series_->sets > 1) args.set = at(input + l.set, DType::i32, {rows_});
  if (tasks > 1) args.segments = at(input + l.segments, DType::i64, {tasks + 1});
  args.streams = at(input + l.streams, DType::i64, {tasks, alternatives_});
  args.value = at(output, DType::f64, {tasks, alternatives_, 1 + options_.surrogates});
  args.k = options_.neighbors, args.theiler = options_.theiler, args.surrogates = options_.surrogates;
  args.block_length = options_.block_length, args.seed = options_.seed;
  args.algorithm = options_.algorithm, args.surrogate_type = options_.surrogate_type;
  ksg_conditional_mutual_information(args, stream);
}

std::vector<Estimates> EstimateBatch::read(const std::byte* output) const {
  const auto width = std::size_t(alternatives_ * (1 + options_.surrogates));
  std::vector<Estimates> results(tasks_.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i] = {options_.surrogates, std::vector<double>(width)};
    std::memcpy(results[i].values.data(), output + i * width * sizeof(double), width * sizeof(double));
  }
  return results;
}

}  // namespace kolmo
