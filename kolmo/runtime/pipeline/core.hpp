#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "kolmo/runtime/pipeline/lane.hpp"
#include "kolmo/runtime/pipeline/meter.hpp"
#include "kolmo/runtime/pipeline/wakeup.hpp"

namespace kolmo {

/// What submit() does if the queue is full: it waits, refuses the new item, or drops the item that has waited
/// longest.
enum class Backpressure : std::int32_t { block, reject, drop_oldest };

struct PipelineOptions {
  std::string name = "pipeline";  ///< label of its metrics
  int slots = 3;                  ///< items or parts between upload and download, 2 to 8
  std::size_t queue = 16;         ///< maximum number of items that wait for a slot, at least 1
  Backpressure backpressure = Backpressure::block;
  double deadline = 0;      ///< seconds; an item that waits longer for a slot is dropped; 0: no deadline
  double objective = 0.01;  ///< latency in seconds that the report counts against
  /// Seconds that the threads spin before they sleep, while items are in flight on a device that works
  /// asynchronously. In a virtual machine waking a thread takes up to 0.1 ms. That is at most 5 % of those
  /// waits that are longer than 2 ms and so end in sleep.
  double spin = 2e-3;
  PipelineBytes room = {};  ///< initial size of every slot; without it a slot's first item waits for memory
  bool graph = false;       ///< record `compute` once per slot, and replay it for items of equal sizes
  bool own_threads = true;  ///< false: submit(), poll() and drain() do the work on the caller's thread
  int cpu_threads = 0;      ///< CPU threads of the streams; 0: every core this process may use
};

namespace detail {

/// The part of a pipeline that does not depend on the types of items. One thread fills and starts slots;
/// another waits for them in that order and hands over results. Without own threads, the caller's thread does
/// both.
class PipelineCore {
 public:
  class Item : public PipelineWork {
   public:
    virtual int parts() const = 0;
    virtual void deliver(PipelineOutcome outcome, std::exception_ptr error, double latency) = 0;
  };

  PipelineCore(Device device, const PipelineOptions& options);
  ~PipelineCore();
  PipelineCore(const PipelineCore&) = delete;
  PipelineCore& operator=(const PipelineCore&) = delete;

  /// Calls `make` for the item if it is accepted; otherwise returns false.
  bool submit(const std::function<std::unique_ptr<Item>()>& make);
  void poll();
  void wait();
  void drain();
  void measure_alone(Item& item, int repeats);
  PipelineReport report() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Entry {
    std::unique_ptr<Item> item;
    double submitted = 0;
    std::exception_ptr error;  // the first error
  };
  struct Flight {
    PipelineLane::Slot* slot;
    std::shared_ptr<Entry> entry;
    bool started, last;
  };

  bool can_feed() const { return !free_.empty() && (partial_ || !queue_.empty()); }
  bool can_complete() const { return !flights_.empty() || !dropped_.empty(); }
  bool oldest_is_done() const;
  bool make_room(Lock& lock);
  void feed(Lock& lock);
  void complete(Lock& lock);
  void deliver(Lock& lock, Entry& entry, PipelineOutcome outcome);
  void keep_error(Entry& entry, const std::exception_ptr& error);
  void show_levels();
  void run_feeder();
  void run_completer();

  const PipelineOptions options_;
  PipelineLane lane_;

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable room_, completable_, settled_;
  Wakeup feedable_;
  std::deque<std::shared_ptr<Entry>> queue_, dropped_;
  std::shared_ptr<Entry> partial_;  // the item whose parts are being started
  int next_part_ = 0;
  std::vector<PipelineLane::Slot*> free_;
  std::deque<Flight> flights_;     // in the order they were started
  std::uint64_t outstanding_ = 0;  // items accepted and not yet handed over
  std::exception_ptr lost_;        // the error that made the device unusable
  std::exception_ptr thrown_;      // what the callback that takes results threw
  bool closing_ = false;
  PipelineMeter meter_;

  std::thread feeder_, completer_;
};

}  // namespace detail
}  // namespace kolmo
