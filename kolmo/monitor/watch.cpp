#include "kolmo/monitor/watch.hpp"

#include <time.h>

#include <chrono>

#include "kolmo/monitor/exposition.hpp"
#include "kolmo/monitor/snapshot.hpp"
#include "kolmo/runtime/device.hpp"
#include "kolmo/runtime/metrics.hpp"
#include "kolmo/version.hpp"

namespace kolmo::monitor {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point t) { return std::chrono::duration<double>(t.time_since_epoch()).count(); }

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

metrics::Counter& overhead(const char* component) {
  return metrics::counter("kolmo_monitor_overhead_seconds_total", {{"component", component}});
}

/// Adds the processor time of this thread to the monitor's overhead.
class Accounted {
 public:
  explicit Accounted(const char* component) : component_(component) {}
  Accounted(const Accounted&) = delete;
  Accounted& operator=(const Accounted&) = delete;
  ~Accounted() { overhead(component_).add(thread_seconds() - begin_); }

 private:
  const char* component_;
  double begin_ = thread_seconds();
};

void name_the_build() {
  std::string driver;
  for (const DeviceInfo& d : devices())
    if (d.device.kind == DeviceKind::cuda) driver = d.driver;
  const auto comma = driver.find("runtime ");
  metrics::gauge("kolmo_build_info",
                 {{"version", std::string(version())},
                  {"cuda", comma == std::string::npos ? "" : driver.substr(comma + 8)},
                  {"driver", nvidia_driver()}},
                 "This build of Kolmo; 1")
      .set(1);
}

}  // namespace

Watch::Watch() {
  name_the_build();
  // Made before the first scrape, whose answer may be sent to many.
  overhead("scrape");
  look();
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    for (auto next = Clock::now(); !stopping_;) {
      next += std::chrono::seconds(1);
      if (stop_.wait_until(lock, next, [this] { return stopping_; })) return;
      look();
    }
  });
}

Watch::~Watch() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

void Watch::look() {
  const Accounted accounted("watch");
  const double now = seconds(Clock::now());
  meter_.read(now);
  const std::chrono::duration<double> unix_time = std::chrono::system_clock::now().time_since_epoch();
  metrics::gauge("kolmo_monitor_last_sample_timestamp_seconds", {}, "When devices were read last")
      .set(unix_time.count());
  history_.add(now, metrics::collect());
}

std::string Watch::prometheus() {
  const Accounted accounted("scrape");
  return prometheus_text(metrics::collect());
}

nlohmann::ordered_json Watch::snapshot(bool with_curves) {
  const Accounted accounted("scrape");
  const auto families = metrics::collect();
  const std::scoped_lock lock(mutex_);
  auto all = monitor::snapshot(families, history_);
  if (with_curves) all["curves"] = curves(families, history_);
  return all;
}

}  // namespace kolmo::monitor
