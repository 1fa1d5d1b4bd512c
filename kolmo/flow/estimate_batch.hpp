#pragma once
#include "kolmo/flow/estimate.hpp"
#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"
#include "kolmo/runtime/pipeline/pipeline.hpp"

namespace kolmo {

/// Tasks as one call of the operator: all its inputs in one block of memory, its output in another. Series
/// and tasks must outlive it. InvalidArgument for what check_task refuses, and for tasks that differ in their
/// number of alternatives or in dimensions. A default-constructed one computes nothing.
class EstimateBatch {
 public:
  EstimateBatch() = default;
  EstimateBatch(const Series& series, std::span<const EstimationTask> tasks, const EstimatorOptions& options);

  PipelineBytes bytes() const { return bytes_; }
  /// Embeds the tasks into host memory.
  void write(std::byte* input) const;
  /// Queues the operator on memory of the stream's device.
  void compute(std::byte* input, std::byte* output, Stream& stream) const;
  std::vector<Estimates> read(const std::byte* output) const;

 private:
  struct Layout {
    std::size_t x, y, z, set, segments, streams, end;
  };
  Layout layout() const;
  template <class T>
  void write_coordinates(std::byte* input) const;
  std::int64_t values() const {
    return std::int64_t(tasks_.size()) * alternatives_ * (1 + options_.surrogates);
  }

  const Series* series_ = nullptr;
  std::span<const EstimationTask> tasks_;
  EstimatorOptions options_;
  std::int64_t alternatives_ = 0, rows_ = 0, dx_ = 0, dy_ = 0, dz_ = 0;
  PipelineBytes bytes_;
};

/// Stages of a pipeline whose items have an EstimateBatch called `batch`.
template <class In>
PipelineStages<In, std::vector<Estimates>> estimate_stages() {
  return {.bytes = [](const In& in, int) { return in.batch.bytes(); },
          .fill = [](const In& in, const PipelineSlot& slot) { in.batch.write(slot.staged_input); },
          .compute = [](const In& in, const PipelineSlot& slot,
                        Stream& stream) { in.batch.compute(slot.input, slot.output, stream); },
          .read = [](const In& in, const PipelineSlot& slot,
                     std::vector<Estimates>& out) { out = in.batch.read(slot.staged_output); }};
}

}  // namespace kolmo
