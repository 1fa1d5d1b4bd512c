#pragma once
#include <array>
#include <deque>
#include <exception>
#include <optional>

#include "kolmo/runtime/memory/pinned.hpp"
#include "kolmo/runtime/pipeline/meter.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {

struct PipelineBytes {
  std::size_t input = 0, output = 0;
};

/// The memory of an item, or of a part of one, in flight. The `staged_` tensors are on the host, the others
/// on the device. On a device that works in host memory they are the same, and nothing is copied.
struct PipelineSlot {
  int part = 0;
  PipelineBytes bytes;
  std::byte *staged_input = nullptr, *staged_output = nullptr;
  std::byte *input = nullptr, *output = nullptr;
};

namespace detail {

/// The stages of a pipeline for one item, in an interface that does not depend on its type.
class PipelineWork {
 public:
  virtual ~PipelineWork() = default;
  virtual PipelineBytes bytes(int part) const = 0;
  virtual void fill(const PipelineSlot& slot) = 0;
  virtual void compute(const PipelineSlot& slot, Stream& stream) = 0;
  virtual void read(const PipelineSlot& slot) = 0;
};

/// The device side of a pipeline: a stream for each stage, and the slots. One thread starts a slot and one
/// waits for it; different slots may be used by different threads.
class PipelineLane {
 public:
  struct Slot : PipelineSlot {
    explicit Slot(Device device) : uploaded(device, false), computed(device, false), finished(device, false) {
      for (int i = 0; i < 6; ++i) stamps.emplace_back(device);
    }
    memory::PinnedBuffer host_input, host_output;
    Buffer device_input, device_output;
    Event uploaded, computed, finished;
    std::deque<Event> stamps;  // begin and end of upload, compute, download
    std::optional<Graph> graph;
    PipelineBytes graph_bytes;
    bool timed = false;
    double fill_seconds = 0;
  };

  PipelineLane(Device device, int slots, int threads, bool graph, double spin);

  std::deque<Slot>& slots() { return slots_; }
  double now() const { return backend_->now(); }
  double spin_seconds() const { return spin_; }
  void make_room(PipelineBytes bytes);

  /// Fills the slot and queues its stages. If it throws, none of its work remains on the device.
  void start(Slot& slot, PipelineWork& work, int part, bool timed);
  bool done(const Slot& slot) const { return slot.finished.done(); }
  void wait(Slot& slot);
  /// The seconds of a timed slot that has finished. The caller sets `read`.
  StageSeconds seconds(const Slot& slot) const;
  StageTimes times(const Slot& slot) const;
  /// Measures the seconds of each device stage of one item or part, each stage run by itself `repeats` times.
  /// No slot may be in flight.
  StageSeconds alone(PipelineWork& work, int repeats);
  /// Measures the uploads and downloads of alone(), `repeats` of each, uploads and downloads at the same
  /// time.
  StageSeconds copies_at_once(int repeats);

 private:
  void fit(Slot& slot, PipelineBytes bytes);
  void upload(Slot& slot);
  void compute(Slot& slot, PipelineWork& work);
  void download(Slot& slot);
  Stream& run_stage(std::size_t stage, Slot& slot, PipelineWork& work);
  void settle() noexcept;

  Device device_;
  Backend* backend_;
  bool graph_;
  double spin_;  // seconds; 0 if work is done when it is queued
  Stream upload_, compute_, download_;
  Event origin_;  // zero point of StageTimes
  std::deque<Slot> slots_;
};

}  // namespace detail
}  // namespace kolmo
