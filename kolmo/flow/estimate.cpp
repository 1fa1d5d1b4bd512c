#include "kolmo/flow/estimate.hpp"

#include <algorithm>
#include <array>

#include "kolmo/flow/estimate_batch.hpp"

namespace kolmo {
namespace {

constexpr std::size_t max_dimensions = 16;

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
  const EstimateBatch batch(series, tasks, options);
  const auto [input_bytes, output_bytes] = batch.bytes();
  std::vector<std::byte> input(input_bytes), output(output_bytes);
  batch.write(input.data());
  if (in_host_memory(stream.device())) {
    batch.compute(input.data(), output.data(), stream);
    return batch.read(output.data());
  }
  const Buffer there(input_bytes, stream), result(output_bytes, stream);
  const auto bytes = [](const Buffer& b) { return b.as(DType::u8, std::array{b.bytes()}); };
  const auto host_bytes = [](std::vector<std::byte>& v) {
    return tensor(v.data(), DType::u8, std::array{v.size()});
  };
  try {
    stream.copy(bytes(there), host_bytes(input));
    batch.compute(static_cast<std::byte*>(there.data()), static_cast<std::byte*>(result.data()), stream);
    stream.copy(host_bytes(output), bytes(result));
  } catch (...) {
    stream.synchronize();  // host memory must outlive the copies out of it
    throw;
  }
  stream.synchronize();
  return batch.read(output.data());
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
