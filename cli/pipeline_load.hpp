#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>

#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/runtime/pipeline/pipeline.hpp"

/// The load that `kolmo pipeline` and the benchmarks of the pipeline run.
namespace kolmo::pipeline_load {

/// An item of work, which is uploaded, added to itself `kernels` times, and downloaded.
struct Item {
  std::size_t bytes = 0;
  int kernels = 1, parts = 1;
  std::size_t index = 0;
  std::chrono::steady_clock::time_point due{};
};
using Measured = Pipeline<Item, int>;

/// The stages of the load. The result of an item is the number of its parts whose last element is wrong. The
/// host writes only that element, because filling all of them would take longer than the transfer.
inline PipelineStages<Item, int> stages() {
  const auto part_bytes = [](const Item& item) { return item.bytes / std::size_t(item.parts) / 8 * 8; };
  PipelineStages<Item, int> s;
  s.parts = [](const Item& item) { return item.parts; };
  s.bytes = [=](const Item& item, int) { return PipelineBytes{part_bytes(item), part_bytes(item)}; };
  s.fill = [](const Item& item, const PipelineSlot& slot) {
    std::memset(slot.staged_input + slot.bytes.input - sizeof(float), int(item.index % 8), sizeof(float));
  };
  s.compute = [](const Item& item, const PipelineSlot& slot, Stream& stream) {
    const auto at = [&](void* data) {
      return tensor(data, DType::f32, std::array{slot.bytes.input / sizeof(float)}, stream.device());
    };
    for (int i = 0; i < item.kernels; ++i)
      vector_add({.x = at(slot.input), .y = at(slot.input), .z = at(slot.output)}, stream);
  };
  s.read = [](const Item& item, const PipelineSlot& slot, int& wrong) {
    float in = 0, out = 0;
    std::memset(&in, int(item.index % 8), sizeof in);
    std::memcpy(&out, slot.staged_output + slot.bytes.output - sizeof out, sizeof out);
    wrong += out != in + in;
  };
  return s;
}

/// The number of kernels for which the compute stage takes about `ratio` times the upload; 1 if nothing is
/// uploaded.
inline int kernels_for(double ratio, const Item& item, Device device, const PipelineOptions& options) {
  if (in_host_memory(device)) return 1;
  Measured pipeline(
      device, stages(), [](auto&) {}, options);
  pipeline.measure_alone(item);
  const StageSeconds one = pipeline.report().alone;
  const double wanted = ratio * one.upload / std::max(one.compute, 1e-9);
  return int(std::clamp(std::round(wanted), 1., 10000.));
}

}  // namespace kolmo::pipeline_load
