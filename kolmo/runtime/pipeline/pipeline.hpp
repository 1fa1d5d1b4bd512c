#pragma once
#include "kolmo/runtime/pipeline/core.hpp"

namespace kolmo {

/// The stages of a pipeline for an item. `fill` writes slot.staged_input; `compute` queues work on the
/// stream, from slot.input to slot.output; `read` reads slot.staged_output. An item may be split into parts,
/// which follow each other through the slots, so that computing starts before the whole of a large item is
/// uploaded. `fill`, `compute` and `read` are then called for each slot.part in order. With
/// PipelineOptions::graph, the work that `compute` queues must depend only on the slot.
template <class In, class Out>
struct PipelineStages {
  std::function<PipelineBytes(const In&, int part)> bytes;
  std::function<void(const In&, const PipelineSlot&)> fill;
  std::function<void(const In&, const PipelineSlot&, Stream&)> compute;
  std::function<void(const In&, const PipelineSlot&, Out&)> read;
  std::function<int(const In&)> parts = {};  ///< default: 1
};

/// An item with its result, and with the error if it failed.
template <class In, class Out>
struct PipelineResult {
  In item;
  Out value{};
  PipelineOutcome outcome = PipelineOutcome::done;
  std::exception_ptr error;  ///< set if the item failed
  double latency = 0;        ///< seconds since submit() was called
};

/// Uploads, computes and downloads at the same time, each for a different item, in three streams of a device.
/// `done` is called with every accepted item exactly once, never concurrently. The order is that of
/// submission, except that dropped items may come earlier. If the device is lost, all accepted items are
/// returned with the error, and submit() throws DeviceError. With own threads any thread may submit. The
/// destructor drains.
template <class In, class Out>
class Pipeline {
 public:
  using Result = PipelineResult<In, Out>;

  Pipeline(Device device, PipelineStages<In, Out> stages, std::function<void(Result&)> done,
           const PipelineOptions& options = {})
      : stages_(std::move(stages)), done_(std::move(done)), core_(device, options) {}

  /// Returns false, and leaves `item` unchanged, if it was refused (Backpressure::reject).
  bool submit(In&& item) {
    return core_.submit([&] { return std::make_unique<Item>(*this, std::move(item)); });
  }
  bool submit(const In& item) { return submit(In(item)); }
  /// Without own threads: does the work that can be done without waiting.
  void poll() { core_.poll(); }
  /// Without own threads: waits for the oldest part that is on its way, if there is one.
  void wait() { core_.wait(); }
  /// Waits until every item was returned. Throws what `done` threw.
  void drain() { core_.drain(); }
  /// Runs each device stage of an item by itself, `repeats` times, to measure the report's `alone`.
  void measure_alone(In item, int repeats = 16) {
    Item work(*this, std::move(item));
    core_.measure_alone(work, repeats);
  }
  PipelineReport report() const { return core_.report(); }

 private:
  class Item final : public detail::PipelineCore::Item {
   public:
    Item(Pipeline& owner, In&& in) : owner_(owner) { result_.item = std::move(in); }
    int parts() const override { return owner_.stages_.parts ? owner_.stages_.parts(result_.item) : 1; }
    PipelineBytes bytes(int part) const override { return owner_.stages_.bytes(result_.item, part); }
    void fill(const PipelineSlot& slot) override { owner_.stages_.fill(result_.item, slot); }
    void compute(const PipelineSlot& slot, Stream& stream) override {
      owner_.stages_.compute(result_.item, slot, stream);
    }
    void read(const PipelineSlot& slot) override { owner_.stages_.read(result_.item, slot, result_.value); }
    void deliver(PipelineOutcome outcome, std::exception_ptr error, double latency) override {
      result_.outcome = outcome, result_.error = std::move(error), result_.latency = latency;
      owner_.done_(result_);
    }

   private:
    Pipeline& owner_;
    Result result_;
  };

  PipelineStages<In, Out> stages_;
  std::function<void(Result&)> done_;
  detail::PipelineCore core_;  // its threads use the two members above
};

}  // namespace kolmo
