#pragma once
#include <array>
#include <map>
#include <mutex>

#include "kolmo/runtime/backend.hpp"
#include "kolmo/runtime/memory/pool.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {

/// How fast a simulated device is, in virtual time.
struct SimulatedSpeed {
  double upload = 50e9, download = 50e9, local = 2e12;  ///< bytes per second of copies, and of fills
  double kernel = 10e-6;                                ///< seconds of work whose time is not stated
  double event = 0;                               ///< seconds that two events add to what is between them
  std::uint64_t memory = std::uint64_t(1) << 30;  ///< bytes
};

/// A device with memory of its own and a virtual clock, for tests of whatever queues work: uploads, kernels
/// and downloads are three engines that run side by side, each doing its work in the order it was queued.
/// Work happens (memory changes) at the virtual time it ends, so that a missing wait shows as wrong data. The
/// clock stands still unless somebody waits or advances it. Copies from or to host memory that is not from
/// allocate_host wait, as CUDA's do. Safe to use from several threads.
class SimulatedDevice final : public Backend {
 public:
  /// Lives until the process ends; `device()` is then usable everywhere.
  static SimulatedDevice& make(const SimulatedSpeed& speed = {});

  Device device() const { return device_; }
  double now() override;
  /// Moves the clock, and does what ends until then.
  void advance_to(double time);
  /// When the next piece of queued work ends; infinity when there is none.
  double next_end();
  /// Queues `work` that takes `seconds`.
  void kernel(Stream& stream, double seconds, std::function<void()> work = {});

  /// The n-th allocation from now on fails once with OutOfMemory, from 1.
  void fail_allocation(std::uint64_t n);
  /// The n-th piece of work queued from now on, from 1, takes the device down instead of being done.
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
  using Lock = std::scoped_lock<std::recursive_mutex>;  // work that is done may allocate
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
  std::map<std::pair<double, std::uint64_t>, Work> pending_;  // by end, then order
  Blocks blocks_, host_blocks_;
  std::uint64_t order_ = 0, queued_ = 0, allocated_ = 0, live_bytes_ = 0, failing_work_ = 0,
                failing_allocation_ = 0;
  std::string lost_;  // why
  memory::Pool pool_{*this, {.name = to_string(device_), .direct = true}};
};

}  // namespace kolmo
