#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/runtime/metrics.hpp"
#include "kolmo/runtime/stream.hpp"

/// What the operators do, seen from inside the process: every launch is counted, and timed as far as that is
/// cheap: as many, at random, as cost 0.1 % of the launching thread's time. On devices that work in host
/// memory a launch has finished when it returns, and two readings of a clock time it
/// (`kolmo_kernel_duration_seconds`): all of them where they take over some 300 us. Elsewhere that is the
/// time to queue it (`kolmo_kernel_enqueue_seconds`), and events tell the time on the device.
namespace kolmo::monitor {

enum Mode : unsigned { recording = 1, tracing = 2, nvtx = 4 };
/// What every launch reads.
struct alignas(64) State {
  std::atomic<unsigned> modes{recording};
  std::atomic<unsigned> readings{1};  ///< of the metrics, so far
};
inline constinit State state;
/// Switches a mode on or off. Throws Unsupported for nvtx in a build without its headers.
void set(Mode mode, bool on);

/// One operator on one device. Lives until the process ends.
struct Kernel {
  Kernel(std::string_view op, Device on);

  const std::string name;
  const Device device;
  std::atomic<bool> wanted{true};  ///< a sample, since the last reading of the metrics
  metrics::Counter& launches;
  metrics::Histogram* enqueue;   ///< host seconds; null where a launch has finished when it returns
  metrics::Counter& busy;        ///< device seconds; those of operators called by operators count once
  metrics::Histogram& duration;  ///< device seconds
  const double event_cost;       ///< to be taken off the time between two events

  /// Sums over the timed launches whose work is known; `at_best` is what they would have taken on the
  /// roofline, over `comparable` seconds: those of launches too large for the caches.
  struct Sums {
    std::atomic<double> seconds{0}, flops{0}, bytes{0}, at_best{0}, comparable{0};
  } sums;
  double roofline_ratio() const { return sums.at_best / sums.comparable; }  ///< NaN when not known

  metrics::Counter nested;  ///< launches in launches, whose device seconds are those of the outer one
};

std::vector<const Kernel*> kernels();
std::uint64_t launches();  ///< of all kernels
/// The roofs that launches are compared with; by default those of device_info.
void set_peaks(const DeviceInfo& device);

/// What a launch has to do: floating-point operations, bytes, and whether in double precision.
struct Work {
  double flops = 0, bytes = 0;
  bool f64 = true;
  std::uint64_t call = 0;  ///< for on_timed; 0: nobody asked
};
/// Told the device seconds of launches that were timed and whose Work has a call. From any thread.
inline std::atomic<void (*)(std::uint64_t call, double seconds)> on_timed{nullptr};

namespace detail {
struct Sample;
}

/// Counts a launch, and times it for as long as it lives; `work()` tells its Work and is asked of few
/// launches. While everything is off it costs one relaxed load.
class Scope {
 public:
  template <class F>
  Scope(std::string_view op, Stream& stream, F&& work) {
    if (const unsigned now = state.modes.load(std::memory_order_relaxed)) [[likely]]
      if (begin(now, op, stream.device())) look_closely(stream, work());
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    if (kernel_) end();
  }

 private:
  bool begin(unsigned now, std::string_view op, Device device);
  void look_closely(Stream& stream, const Work& work);
  void end() noexcept;

  Kernel* kernel_ = nullptr;
  std::int64_t begin_ = 0;
  detail::Sample* sample_ = nullptr;
  double weight_ = 0;   // launches that the time of this one stands for
  bool range_ = false;  // of NVTX
};

}  // namespace kolmo::monitor
