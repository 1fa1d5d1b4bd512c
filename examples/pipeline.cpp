#include "kolmo/runtime/pipeline/pipeline.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kolmo/ops/elementwise/binary/binary.hpp"

using Frame = std::vector<float>;

int main() {
  kolmo::PipelineStages<Frame, Frame> stages;
  stages.bytes = [](const Frame& f, int) {
    return kolmo::PipelineBytes{f.size() * sizeof(float), f.size() * sizeof(float)};
  };
  stages.fill = [](const Frame& f, const kolmo::PipelineSlot& slot) {
    std::memcpy(slot.staged_input, f.data(), slot.bytes.input);
  };
  stages.compute = [](const Frame& f, const kolmo::PipelineSlot& slot, kolmo::Stream& stream) {
    const auto on_device = [&](void* data) {
      return kolmo::tensor(data, kolmo::DType::f32, std::array{f.size()}, stream.device());
    };
    kolmo::vector_add({.x = on_device(slot.input), .y = on_device(slot.input), .z = on_device(slot.output)},
                      stream);
  };
  stages.read = [](const Frame& f, const kolmo::PipelineSlot& slot, Frame& doubled) {
    doubled.resize(f.size());
    std::memcpy(doubled.data(), slot.staged_output, slot.bytes.output);
  };

  float sum = 0;
  kolmo::Pipeline<Frame, Frame> pipeline(kolmo::parse_device("auto"), stages, [&](auto& result) {
    if (result.outcome == kolmo::PipelineOutcome::done) sum += result.value[0];
  });
  for (int i = 0; i < 100; ++i) pipeline.submit(Frame(1000, float(i)));
  pipeline.drain();
  const kolmo::PipelineReport report = pipeline.report();
  std::printf("%g; p99 latency %g s, bound by %s\n", sum, report.p99, std::string(report.bound).c_str());
  return sum == 9900 && report.done == 100 ? 0 : 1;
}
