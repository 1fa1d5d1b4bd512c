#include "kolmo/monitor/devices.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string>

#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/device.hpp"
#include "kolmo/runtime/metrics.hpp"
#include "kolmo/runtime/system_file.hpp"

namespace kolmo::monitor {
namespace {

namespace fs = std::filesystem;
using metrics::gauge;

void set(std::string_view name, metrics::Labels labels, const std::optional<double>& value,
         std::string_view help) {
  if (value) gauge(name, std::move(labels), help).set(*value);
}

std::optional<double> number_in(const fs::path& file) {
  SystemFile in(file);
  double value = 0;
  if (in >> value) return value;
  return {};
}

/// The number after `key` in the first line that begins with it.
std::optional<double> number_after(const fs::path& file, std::string_view key) {
  SystemFile in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) {
      double value = 0;
      const char* const from =
          line.data() + std::min(line.find_first_not_of(": \t", key.size()), line.size());
      if (std::from_chars(from, line.data() + line.size(), value).ec == std::errc()) return value;
    }
  return {};
}

/// The clock of the processor, averaged over the cores.
std::optional<double> clock_hertz() {
  double sum = 0;
  int cores = 0;
  for (;; ++cores) {
    const auto khz =
        number_in("/sys/devices/system/cpu/cpu" + std::to_string(cores) + "/cpufreq/scaling_cur_freq");
    if (!khz) break;
    sum += *khz * 1e3;
  }
  if (cores) return sum / cores;
  const auto mhz = number_after("/proc/cpuinfo", "cpu MHz");
  if (mhz) return *mhz * 1e6;
  return {};
}

std::optional<double> temperature() {
  std::error_code none;
  for (const auto& zone : fs::directory_iterator("/sys/class/thermal", none)) {
    SystemFile in(zone.path() / "type");
    std::string type;
    in >> type;
    if (type != "x86_pkg_temp" && type != "k10temp" && type != "zenpower") continue;
    if (const auto milli = number_in(zone.path() / "temp")) return *milli * 1e-3;
  }
  return {};
}

/// Resident memory of this process, in bytes.
double resident_bytes() {
  SystemFile in("/proc/self/statm");
  double size = 0, resident = 0;
  in >> size >> resident;
  return resident * double(sysconf(_SC_PAGESIZE));
}

struct Ticks {
  double busy = 0, all = 0;
};
Ticks machine_ticks() {
  SystemFile in("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0;
  in >> cpu >> user >> nice >> system >> idle >> wait >> irq >> softirq >> steal;
  const double busy = user + nice + system + irq + softirq + steal;
  return {busy, busy + idle + wait};
}

double process_seconds() {
  rusage r{};
  getrusage(RUSAGE_SELF, &r);
  const auto seconds = [](timeval t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  return seconds(r.ru_utime) + seconds(r.ru_stime);
}

}  // namespace

void DeviceMeter::read(double now) {
  const bool slow = readings_++ % 2 == 0;
  read_processor(now, slow);
  read_gpus(slow);
  last_ = now;
}

void DeviceMeter::read_gpus(bool slow) {
  if (!nvml_) return;
  for (const Nvml::Gpu& gpu : nvml_->gpus()) {
    const metrics::Labels labels{{"gpu", gpu.index}, {"uuid", gpu.uuid}};
    const auto show = [&](const char* name, const std::optional<double>& value, const char* help) {
      set(std::string("kolmo_gpu_") + name, labels, value, help);
    };
    gauge("kolmo_gpu_info",
          {{"gpu", gpu.index}, {"uuid", gpu.uuid}, {"model", gpu.name}, {"cc", gpu.capability}},
          "A GPU of this machine; 1")
        .set(1);
    const Nvml::Reading r = nvml_->read(gpu, slow);
    show("busy_ratio", r.busy, "Share of time in which any kernel of any process ran");
    show("memory_used_bytes", r.memory_used, "Device memory in use, by all processes");
    show("memory_total_bytes", r.memory_total, "Device memory");
    show("sm_active_ratio", r.sm_active,
         "Share of multiprocessor time with a warp at work (Hopper and later)");
    show("sm_occupancy_ratio", r.sm_occupancy, "Resident warps as a share of the most possible");
    show("tensor_active_ratio", r.tensor_active, "Share of time in which tensor cores were at work");
    show("dram_active_ratio", r.dram_active, "Share of the memory bandwidth in use");
    show("power_watts", r.power, "Power drawn");
    show("temperature_celsius", r.temperature, "Temperature of the die");
    show("sm_clock_hertz", r.sm_clock, "Clock of the multiprocessors");
    if (r.energy) {
      auto& joules =
          metrics::counter("kolmo_gpu_energy_joules_total", labels, "Energy since the driver was loaded");
      if (const double more = *r.energy - joules.value(); more > 0) joules.add(more);
    }
    for (const ThrottleReason& reason : throttle_reasons)
      if (r.throttle) {
        auto with_reason = labels;
        with_reason.emplace_back("reason", reason.name);
        gauge("kolmo_gpu_throttled", with_reason, "1 while clocks are held down for this reason")
            .set((*r.throttle & reason.bits) != 0);
      }
  }
  for (const auto& [at, xid] : nvml_->xid_errors()) {
    const Nvml::Gpu& gpu = nvml_->gpus()[at];
    metrics::counter("kolmo_gpu_xid_errors_total",
                     {{"gpu", gpu.index}, {"uuid", gpu.uuid}, {"xid", std::to_string(xid)}},
                     "Errors that the driver reported")
        .add();
  }
}

void DeviceMeter::read_processor(double now, bool slow) {
  static const double cores = hardware_threads();
  static const bool named = [] {
    const DeviceInfo info = device_info({});
    gauge("kolmo_cpu_info", {{"model", info.name}, {"cores", std::to_string(info.processors)}},
          "The processor, and the cores this process may use; 1")
        .set(1);
    gauge("kolmo_cpu_memory_total_bytes", {}, "Memory of the machine").set(double(info.memory));
    return true;
  }();
  const double seconds = process_seconds();
  const Ticks ticks = machine_ticks();
  if (named && last_ > 0 && now > last_) {
    gauge("kolmo_cpu_busy_ratio", {{"scope", "process"}},
          "Share of the cores' time: of the cores this process may use by this process, of the machine's by "
          "all")
        .set(std::min(1.0, (seconds - process_seconds_) / (now - last_) / cores));
    if (ticks.all > all_ticks_)
      gauge("kolmo_cpu_busy_ratio", {{"scope", "machine"}})
          .set((ticks.busy - busy_ticks_) / (ticks.all - all_ticks_));
  }
  process_seconds_ = seconds, busy_ticks_ = ticks.busy, all_ticks_ = ticks.all;
  constexpr auto help = "Memory in use, by this process and on the machine";
  gauge("kolmo_cpu_memory_used_bytes", {{"scope", "process"}}, help).set(resident_bytes());
  const auto total = number_after("/proc/meminfo", "MemTotal"),
             free = number_after("/proc/meminfo", "MemAvailable");
  if (total && free)
    gauge("kolmo_cpu_memory_used_bytes", {{"scope", "machine"}}).set((*total - *free) * 1024);
  if (!slow) return;
  set("kolmo_cpu_clock_hertz", {}, clock_hertz(), "Clock, the mean over the cores");
  set("kolmo_cpu_temperature_celsius", {}, temperature(), "Temperature of the package");
  const auto grown = [](const char* name, const char* help_text, const std::optional<double>& value,
                        double& last) {
    if (!value) return;
    metrics::counter(name, {}, help_text).add(std::max(0.0, *value - last));
    last = *value;
  };
  const auto scaled = [](std::optional<double> value) {
    if (value) *value *= 1e-6;
    return value;
  };
  grown("kolmo_cpu_energy_joules_total", "Energy of the package",
        scaled(number_in("/sys/class/powercap/intel-rapl:0/energy_uj")), energy_);
  grown("kolmo_cpu_throttled_seconds_total", "Time in which the container was held below its processor limit",
        scaled(number_after("/sys/fs/cgroup/cpu.stat", "throttled_usec")), throttled_);
}

}  // namespace kolmo::monitor
