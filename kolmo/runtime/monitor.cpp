#include "kolmo/runtime/monitor.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>

#include "kolmo/runtime/backend.hpp"
#include "kolmo/runtime/device_times.hpp"
#include "kolmo/runtime/nvtx.hpp"
#include "kolmo/runtime/sample_schedule.hpp"
#include "kolmo/runtime/trace.hpp"

namespace kolmo::monitor {
namespace {

std::int64_t nanoseconds() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// Work in host memory of up to this many bytes is not compared with the roofline, since its data may stay in
/// the caches.
constexpr double cached = 64e6;

metrics::Labels labels(std::string_view op, Device device) {
  return {{"kernel", std::string(op)}, {"device", to_string(device)}};
}

struct Table {
  std::mutex mutex;
  std::deque<LaunchMetrics> kernels;
  std::map<std::pair<DeviceKind, int>, DeviceInfo> peaks;
};
Table& table() {
  static auto& all = *new Table;
  return all;
}

/// A kernel that the thread has launched. The data that its next launch needs are in one cache line.
struct alignas(64) Known {
  std::array<char, 24> name{};  // the kernel's name, if it fits
  std::uint32_t length = 0;
  unsigned readings = 0;  // number of metric readings at the last check of Kernel::wanted
  Device device;
  LaunchMetrics* kernel = nullptr;
  metrics::Counter::Mine launches;

  bool is(std::string_view op, Device on) const {
    if (length != op.size() || !(device == on) || !kernel) return false;
    return length <= name.size() ? std::equal(op.begin(), op.end(), name.begin()) : kernel->name == op;
  }
};
static_assert(sizeof(Known) == 64);

struct alignas(64) ThreadState {  // the members that every launch reads are in the first cache line
  int depth = 0;                  // number of launches around this one
  bool seeded = false;
  TimingSchedule timing;
  SampleSchedule schedule;
  std::size_t filled = 0;
  std::array<Known, 128> known;  // by a hash of the name's address and the device
  Known unknown;                 // for a kernel that does not fit into `known`
};
constinit thread_local ThreadState thread;

metrics::Counter& overhead(const char* component) {
  return metrics::counter("kolmo_monitor_overhead_seconds_total", {{"component", component}},
                          "Time that monitoring took, by part; recorder: estimated from its cost per launch");
}

/// Shortest duration of `work` in seconds over several attempts, because the machine may be busy.
template <class Work>
double seconds_of(const Work& work) {
  constexpr int attempts = 10, rounds = 200;
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < attempts; ++i) {
    const std::int64_t begin = nanoseconds();
    for (int r = 0; r < rounds; ++r) work();
    best = std::min(best, nanoseconds() - begin);
  }
  return 1e-9 * double(best) / rounds;
}

/// What the recorder costs for each launch, and how much more for a launch in host memory that is timed.
struct RecorderCost {
  double counting = seconds_of([] {
    static metrics::Counter launches;
    launches.add();
  });
  double timing = seconds_of([] {
    static metrics::Counter busy;
    static metrics::Histogram duration;
    const std::int64_t begin = nanoseconds();
    const double seconds = 1e-9 * double(nanoseconds() - begin);
    busy.add(seconds), duration.record(seconds);
  });
};

/// Updates values that are computed when read.
void update() {
  detail::harvest(~std::size_t(0));
  static const RecorderCost cost;
  static std::map<const LaunchMetrics*, double> estimated, accounted;
  for (const LaunchMetrics* known : kernels()) {
    auto& k = const_cast<LaunchMetrics&>(*known);
    const metrics::HistogramData timed = k.duration.read();
    if (k.enqueue && timed.count()) {
      const double launches = k.launches.value() - k.nested.value();
      k.busy.add((launches - estimated[known]) * timed.mean());
      estimated[known] = launches;
    }
    metrics::gauge("kolmo_kernel_roofline_ratio", labels(k.name, k.device),
                   "Best possible time over time of the launches looked at, where the roofline is known")
        .set(k.roofline_ratio());
    const double spent =
        k.launches.value() * cost.counting + (k.enqueue ? 0 : double(timed.count()) * cost.timing);
    overhead("recorder").add(spent - std::exchange(accounted[known], spent));
    k.wanted.store(true, std::memory_order_relaxed);
  }
  state.readings.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

LaunchMetrics::LaunchMetrics(std::string_view op, Device on)
    : name(op),
      device(on),
      launches(metrics::counter("kolmo_kernel_launches_total", labels(op, on), "Launches of an operator")),
      enqueue(in_host_memory(on)
                  ? nullptr
                  : &metrics::histogram("kolmo_kernel_enqueue_seconds", labels(op, on),
                                        "Host time to queue a launch; of a random sample of launches")),
      busy(metrics::counter(
          "kolmo_kernel_busy_seconds_total", labels(op, on),
          "Device time; estimated from the launches that are timed where those are not all")),
      duration(
          metrics::histogram("kolmo_kernel_duration_seconds", labels(op, on),
                             "Device time of a launch; of a random sample of short ones and those on GPUs")),
      event_cost(in_host_memory(on) ? 0 : backend(on).event_cost()) {}

void set(Mode mode, bool on) {
  if (mode == nvtx && on && !nvtx_available())
    fail<Unsupported>("nvtx: this build has no NVTX headers (they come with the CUDA toolkit)");
  if (on)
    state.modes |= mode;
  else
    state.modes &= ~unsigned(mode);
}

namespace {
LaunchMetrics& kernel(std::string_view op, Device device) {
  Table& t = table();
  const std::scoped_lock lock(t.mutex);
  if (t.kernels.empty()) metrics::on_scrape(update);
  for (LaunchMetrics& k : t.kernels)
    if (k.device == device && k.name == op) return k;
  return t.kernels.emplace_back(op, device);
}

Known& know(Known& k, std::string_view op, Device device) {
  LaunchMetrics& found = kernel(op, device);
  k = {{}, std::uint32_t(op.size()), 0, device, &found, found.launches.mine()};
  std::copy_n(op.begin(), std::min(op.size(), k.name.size()), k.name.begin());
  return k;
}

/// Finds kernels by the address of the operator's name, which is a constant; then compares the names.
Known& find(std::string_view op, Device device) {
  constexpr std::size_t size = std::tuple_size_v<decltype(ThreadState::known)>, most = size / 4 * 3;
  const auto address = reinterpret_cast<std::uintptr_t>(op.data());
  const std::uint64_t key = address ^ std::uint64_t(device.kind) << 56 ^ std::uint64_t(device.index) << 48;
  for (std::size_t i = std::size_t(key * 0x9E3779B97F4A7C15ULL >> 57);; ++i) {
    Known& k = thread.known[i % size];
    if (k.is(op, device)) return k;
    if (k.kernel) continue;
    if (thread.filled == most) return know(thread.unknown, op, device);
    ++thread.filled;
    return know(k, op, device);
  }
}

}  // namespace

std::vector<const LaunchMetrics*> kernels() {
  const std::scoped_lock lock(table().mutex);
  std::vector<const LaunchMetrics*> all;
  for (const LaunchMetrics& k : table().kernels) all.push_back(&k);
  return all;
}

std::uint64_t launches() {
  double all = 0;
  for (const LaunchMetrics* k : kernels()) all += k->launches.value();
  return std::uint64_t(all);
}

void set_peaks(const DeviceInfo& device) {
  const std::scoped_lock lock(table().mutex);
  table().peaks[{device.device.kind, device.device.index}] = device;
}

void detail::account(const TimedLaunch& s, double seconds) {
  LaunchMetrics& k = *s.kernel;
  if (k.enqueue) k.duration.record(seconds);
  if (const auto told = on_timed.load(std::memory_order_acquire); told && s.work.call)
    told(s.work.call, seconds);
  if (s.work.bytes == 0) return;
  DeviceInfo peaks;
  {
    const std::scoped_lock lock(table().mutex);
    const auto [at, fresh] = table().peaks.try_emplace({k.device.kind, k.device.index});
    if (fresh) at->second = device_info(k.device);
    peaks = at->second;
  }
  k.sums.seconds += seconds, k.sums.flops += s.work.flops, k.sums.bytes += s.work.bytes;
  const double flops = s.work.f64 ? peaks.flops_f64 : peaks.flops_f32;
  const double computing = flops > 0 ? s.work.flops / flops : 0;
  const double moving = peaks.bytes_per_second > 0 ? s.work.bytes / peaks.bytes_per_second : 0;
  if (moving == 0 || (moving > computing && s.work.bytes < cached)) return;
  k.sums.at_best += std::max(computing, moving), k.sums.comparable += seconds;
}

bool Scope::begin(unsigned now, std::string_view op, Device device) {
  Known& known = find(op, device);
  kernel_ = known.kernel;
  known.launches.add();
  const bool on_host = in_host_memory(device), nested = thread.depth++ > 0;
  if (nested && !on_host) kernel_->nested.add();
  if (now & nvtx) nvtx_push(kernel_->name.c_str()), range_ = true;
  bool due = thread.schedule.due();
  const unsigned readings = state.readings.load(std::memory_order_relaxed);
  if (known.readings != readings && !(now & tracing)) [[unlikely]] {
    known.readings = readings;
    due |= kernel_->wanted.load(std::memory_order_relaxed);
  }
  if (on_host && thread.timing.due()) weight_ = thread.timing.weight();
  if (!due && weight_ == 0 && !(now & tracing)) return false;
  begin_ = nanoseconds();
  if (now & tracing) return true;
  if (!due) return false;
  kernel_->wanted.store(false, std::memory_order_relaxed);
  if (const auto seed = reinterpret_cast<std::uintptr_t>(&thread); !thread.seeded)
    thread.schedule = SampleSchedule(seed), thread.timing = TimingSchedule(seed), thread.seeded = true;
  if (thread.schedule.begin(1e-9 * double(begin_))) return true;
  detail::drop(detail::Drop::over_budget);
  return false;
}

void Scope::look_closely(Stream& stream, const Work& work) {
  // A query for an event of a capture, or during one, may end the capture.
  if (kernel_->enqueue && stream.records()) {
    thread.schedule.end(1e-9 * double(nanoseconds()), 0);
    begin_ = 0;
    return;
  }
  sample_ = new detail::TimedLaunch{kernel_, &stream, work};
  if (kernel_->enqueue) detail::harvest(4), detail::start(*sample_);
  const std::int64_t from = std::exchange(begin_, nanoseconds());
  sample_->begin = 1e-9 * double(begin_), sample_->spent = 1e-9 * double(begin_ - from);
}

void Scope::end() noexcept {
  const bool outermost = --thread.depth == 0;
  if (range_) nvtx_pop();
  if (!begin_ || (kernel_->enqueue && !sample_)) return;
  const std::int64_t end = nanoseconds();
  const double seconds = 1e-9 * double(end - begin_);
  if (kernel_->enqueue) {
    kernel_->enqueue->record(seconds);
  } else {
    kernel_->duration.record(seconds);
    if (weight_ > 0) {
      if (outermost) kernel_->busy.add(weight_ * seconds);
      thread.timing.timed(1e-9 * double(end));
    }
  }
  if (!sample_) return;
  std::unique_ptr<detail::TimedLaunch> sample(sample_);
  const double spent = sample->spent;
  if (trace::active())
    trace::add(kernel_->enqueue ? "queue " + kernel_->name : kernel_->name, trace::this_thread(),
               sample->begin, seconds, sample->work.about);
  sample->host_seconds = seconds;
  if (kernel_->enqueue)
    detail::stop(std::move(sample));
  else
    detail::account(*sample, seconds);
  const std::int64_t now = nanoseconds();
  const double cost = spent + 1e-9 * double(now - end);
  thread.schedule.end(1e-9 * double(now), cost);
  static metrics::Counter& looking = overhead("samples");
  looking.add(cost);
}

}  // namespace kolmo::monitor
