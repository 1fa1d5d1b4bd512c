#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/runtime/metrics.hpp"
#include "kolmo/runtime/stream.hpp"

/// Monitoring of operators from inside the process. Every launch is counted. Launches are timed at random, as
/// many as cost 0.1 % of the launching thread's time. On devices that work in host memory a launch has
/// finished when it returns, and is timed by two clock readings (`kolmo_kernel_duration_seconds`); all
/// launches of more than about 300 us are timed there. On other devices these readings give the time to queue
/// the launch (`kolmo_kernel_enqueue_seconds`), and events give the time on the device.
namespace kolmo::monitor {

enum Mode : unsigned { recording = 1, tracing = 2, nvtx = 4 };
/// The state that every launch reads.
struct alignas(64) State {
  std::atomic<unsigned> modes{recording};
  std::atomic<unsigned> readings{1};  ///< number of readings of the metrics so far
};
inline constinit State state;
/// Switches a mode on or off. Throws Unsupported for nvtx in a build without the NVTX headers.
void set(Mode mode, bool on);

/// Metrics of one operator on one device. Lives until the process ends.
struct LaunchMetrics {
  LaunchMetrics(std::string_view op, Device on);

  const std::string name;
  const Device device;
  std::atomic<bool> wanted{true};  ///< whether a sample has been wanted since the last reading of the metrics
  metrics::Counter& launches;
  metrics::Histogram* enqueue;   ///< host seconds; null if a launch has finished when it returns
  metrics::Counter& busy;        ///< device seconds; operators called by operators count once
  metrics::Histogram& duration;  ///< device seconds
  const double event_cost;       ///< to be subtracted from the time between two events

  /// Sums over the timed launches whose work is known. `comparable` are the seconds of launches too large for
  /// the caches; `at_best` are the seconds these would take on the roofline.
  struct Sums {
    std::atomic<double> seconds{0}, flops{0}, bytes{0}, at_best{0}, comparable{0};
  } sums;
  double roofline_ratio() const { return sums.at_best / sums.comparable; }  ///< NaN if not known

  /// Number of launches within launches. Their device seconds are part of those of the outer launch.
  metrics::Counter nested;
};

std::vector<const LaunchMetrics*> kernels();
std::uint64_t launches();  ///< the number for all kernels together
/// Sets the peak rates that launches are compared with. By default these are those of device_info.
void set_peaks(const DeviceInfo& device);

/// The work of a launch: floating-point operations, bytes, and whether in double precision.
struct Work {
  double flops = 0, bytes = 0;
  bool f64 = true;
  std::uint64_t call = 0;  ///< id for on_timed; 0: no report of the time is wanted
  std::string about = {};  ///< its arguments as a JSON object, for a trace; see Span::about
};
/// Called with the device seconds of timed launches whose Work has a `call` id. Any thread may call it.
inline std::atomic<void (*)(std::uint64_t call, double seconds)> on_timed{nullptr};

namespace detail {
struct TimedLaunch;
}

/// Counts a launch, and times the launch by its own lifetime. work() returns the launch's Work, and is called
/// for few launches. With monitoring off the cost is one relaxed load.
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

  LaunchMetrics* kernel_ = nullptr;
  std::int64_t begin_ = 0;
  detail::TimedLaunch* sample_ = nullptr;
  double weight_ = 0;   // number of launches that this timed one represents
  bool range_ = false;  // whether an NVTX range is open
};

}  // namespace kolmo::monitor
