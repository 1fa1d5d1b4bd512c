#pragma once
#include <array>
#include <map>
#include <mutex>

#include "kolmo/runtime/backend.hpp"
#include "kolmo/runtime/memory/pool.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {

/// The speed of a simulated device, in virtual time.
struct SimulatedSpeed {
  double upload = 50e9, download = 50e9, local = 2e12;  ///< bytes per second of copies, and of fills
  double kernel = 10e-6;                                ///< seconds of work without a stated time
  double event = 0;                               ///< seconds that two events add to the work between them
  std::uint64_t memory = std::uint64_t(1) << 30;  ///< bytes
};

/// A device with its own memory and a virtual clock, for tests of code that queues work. Uploads, kernels and
/// downloads are three engines that run concurrently, each in queue order. The effect of work on memory
/// happens at the virtual time at which it ends, so that a missing wait shows as wrong data. The clock
/// advances only if someone waits or advances it. Copies with host memory that is not from allocate_host
/// wait, as in CUDA. Thread-safe.
class SimulatedDevice final : public Backend {
 public:
  /// Makes a device that lives until the process ends; `device()` is then usable everywhere.
  static SimulatedDevice& make(const SimulatedSpeed& speed = {});

  Device device() const { return device_; }
  bool deferred() const override { return true; }
  double now() override;
  /// Advances the clock, and does the work that ends until then.
  void advance_to(double time);
  /// The time at which the next queued work ends; infinity if there is none.
  double next_end();
  /// Queues `work` that takes `seconds`.
  void kernel(Stream& stream, double seconds, std::function<void()> work = {});

  /// Makes the n-th allocation from now on, counted from 1, fail once with OutOfMemory.
  void fail_allocation(std::uint64_t n);
  /// Makes the device fail instead of doing the n-th piece of work queued from now on, counted from 1.
  void fail_work(std::uint64_t n);
  std::uint64_t live_bytes();

  DeviceInfo info() const override;
  void* allocate(std::size_t bytes, Handle stream) override;
  void deallocate(void* data, std::size_t bytes, Handle stream) noexcept override;
  void trim() override {}
  memory::Pool& pool() override { return pool_; }
  void* allocate_host(std::size_t bytes) override;
  void deallocate_host(void* data, std::size_t bytes) noexcept override;
  Handle make_stream() override;
  void destroy_stream(Handle stream) noexcept override;
  Handle borrow_stream(void* native) override { return native; }
  void return_stream(Handle) noexcept override {}
  bool captured_by_owner(Handle stream) override;
  void synchronize(Handle stream) override;
  void submit(Handle stream, std::function<void()> work) override;
  void copy(void* to, const void* from, std::size_t bytes, Handle stream) override;
  void fill(void* to, int byte, std::size_t bytes, Handle stream) override;
  Handle make_event(bool timed) override;
  void destroy_event(Handle event) noexcept override;
  void record(Handle event, Handle stream) override;
  void wait(Handle stream, Handle event) override;
  void synchronize_event(Handle event) override;
  bool done(Handle event) override;
  double seconds(Handle from, Handle to) override;
  double event_cost() override { return speed_.event; }
  void begin_capture(Handle stream) override;
  Handle end_capture(Handle stream) override;
  void abandon_capture(Handle stream) noexcept override;
  void launch_graph(Handle graph, Handle stream) override;
  void destroy_graph(Handle graph) noexcept override;

 private:
  enum Engine { upload, compute, download };
  using Lock = std::scoped_lock<std::recursive_mutex>;  // completed work may allocate
  struct Work {
    std::function<void()> run;
    bool even_if_lost = false;
  };
  using Blocks = std::map<const void*, std::size_t>;

  SimulatedDevice(Device device, const SimulatedSpeed& speed) : device_(device), speed_(speed) {}
  double queue(Handle stream, Engine engine, double seconds, std::function<void()> work);
  void check() const;
  static bool holds(const Blocks& blocks, const void* data);

  const Device device_;
  const SimulatedSpeed speed_;
  std::recursive_mutex mutex_;
  double now_ = 0;
  std::array<double, 3> engine_ready_{};
  std::map<std::pair<double, std::uint64_t>, Work> pending_;  // by the time at which it ends, then by order
  Blocks blocks_, host_blocks_;
  std::uint64_t order_ = 0, queued_ = 0, allocated_ = 0, live_bytes_ = 0, failing_work_ = 0,
                failing_allocation_ = 0;
  std::string lost_;  // why the device was lost; empty if it was not
  memory::Pool pool_{*this, {.name = to_string(device_), .direct = true}};
};

}  // namespace kolmo
