#pragma once
#include "kolmo/flow/estimate/estimate.hpp"
#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"
#include "kolmo/runtime/pipeline/pipeline.hpp"

namespace kolmo {

/// Tasks as one call of the operator, with all inputs in one block of memory and the output in another.
/// Series and tasks must outlive it. Throws InvalidArgument for tasks that check_task refuses, and for tasks
/// that differ in their number of alternatives, in dimensions, in whether they have min_shifts, or in the rows of a trial that
/// surrogates rearrange. A
/// default-constructed batch computes nothing. Options are settled by the longest embedding of the tasks.
class EstimateBatch {
 public:
  EstimateBatch() = default;
  EstimateBatch(const Series& series, std::span<const EstimationTask> tasks, const EstimatorOptions& options,
                SurrogateRange draws);

  PipelineBytes bytes() const { return bytes_; }
  /// Writes the embedded tasks to host memory.
  void write(std::byte* input, int threads = 1) const;
  /// Queues the operator on memory of the stream's device.
  void compute(std::byte* input, std::byte* output, Stream& stream) const;
  std::vector<Estimates> read(const std::byte* output) const;
  /// All of it at once. `local`, if given, receives the local values of the observed data: [alternative][row], with the
  /// rows of all tasks one after another.
  std::vector<Estimates> compute_from_host(Stream& stream, double* local = nullptr) const;

 private:
  struct Layout {
    std::size_t x, y, z, time, segments, streams, min_shifts, end;
  };
  Layout layout() const;
  KsgConditionalMutualInformationArgs arguments(std::byte* input, std::byte* output, double* local,
                                                Device device) const;
  template <class T>
  void write_coordinates(std::byte* input, int threads) const;
  template <class T>
  void write_spectral(const EstimationTask& task, std::int64_t row, T* x) const;
  bool spectral() const { return is_spectral(options_.surrogate_type); }
  /// Spectral surrogates are alternatives of their own; others are made by the operator.
  std::int64_t copies() const { return spectral() ? draws_.count : 1; }
  /// Draws that the operator makes of each alternative.
  std::int64_t made_by_operator() const { return spectral() ? 1 : draws_.count; }
  bool rearranges() const { return !spectral() && draws_.surrogates() > 0; }
  std::int64_t values() const { return std::int64_t(tasks_.size()) * alternatives_ * draws_.count; }

  const Series* series_ = nullptr;
  std::span<const EstimationTask> tasks_;
  EstimatorOptions options_;
  std::int64_t alternatives_ = 0, rows_ = 0, dx_ = 0, dy_ = 0, dz_ = 0, rows_of_trial_ = 0;
  SurrogateRange draws_;
  bool timed_ = false;          // the Theiler window needs times
  bool shifts_differ_ = false;  // the tasks have a min_shift of each alternative
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
