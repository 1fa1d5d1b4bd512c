#include "kolmo/runtime/nvml.hpp"

#include <dlfcn.h>

#include <mutex>
#include <regex>

#include "kolmo/runtime/system_file.hpp"

namespace kolmo {

// The layouts are copied from nvml.h, so that building does not need that file. They are part of the
// library's binary interface. This namespace has a name because g++ 13.3 crashes on Nvml::Calls where its
// pointers to functions take types of an unnamed one and an included file defines it, as unity builds do.
namespace nvml {

struct Utilization {
  unsigned gpu, memory;  // percent
};
struct Memory {
  unsigned long long total, free, used;
};
struct EventData {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
struct GpmSupport {
  unsigned version, supported;
};
struct GpmMetric {
  unsigned id;
  int status;
  double value;  // percent
  const char *short_name, *long_name, *unit;
};
struct GpmMetrics {
  unsigned version, count;
  void *before, *after;
  GpmMetric metrics[512];  // the library writes `count` of them
};

}  // namespace nvml

namespace {

using namespace nvml;

constexpr int ok = 0;
constexpr unsigned sm_clock = 1, die_temperature = 0;
constexpr unsigned long long xid_event = 8;

template <class T, class Call, class... Before>
std::optional<T> ask(Call call, Before... arguments) {
  T value{};
  if (!call || call(arguments..., &value) != ok) return {};
  return value;
}

template <class T>
std::optional<double> scaled(const std::optional<T>& value, double unit) {
  if (!value) return {};
  return double(*value) * unit;
}

template <class Call, class... Before>
std::string text(Call call, Before... arguments) {
  char buffer[128] = "";
  return call && call(arguments..., buffer, sizeof buffer) == ok ? buffer : "";
}

}  // namespace

struct Nvml::Calls {
  void* library;
  template <class F>
  void find(F& f, const char* name, const char* older = nullptr) {
    f = reinterpret_cast<F>(dlsym(library, name));
    if (!f && older) f = reinterpret_cast<F>(dlsym(library, older));
  }
  explicit Calls(void* opened) : library(opened) {
    find(init, "nvmlInit_v2");
    find(driver, "nvmlSystemGetDriverVersion");
    find(count, "nvmlDeviceGetCount_v2");
    find(by_index, "nvmlDeviceGetHandleByIndex_v2");
    find(uuid, "nvmlDeviceGetUUID");
    find(name, "nvmlDeviceGetName");
    find(capability, "nvmlDeviceGetCudaComputeCapability");
    find(utilization, "nvmlDeviceGetUtilizationRates");
    find(memory, "nvmlDeviceGetMemoryInfo");
    find(power, "nvmlDeviceGetPowerUsage");
    find(power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    find(energy, "nvmlDeviceGetTotalEnergyConsumption");
    find(temperature, "nvmlDeviceGetTemperature");
    find(clock, "nvmlDeviceGetClockInfo");
    find(throttle, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons");
    find(event_set, "nvmlEventSetCreate");
    find(register_events, "nvmlDeviceRegisterEvents");
    find(event_wait, "nvmlEventSetWait_v2");
    find(gpm_support, "nvmlGpmQueryDeviceSupport");
    find(gpm_alloc, "nvmlGpmSampleAlloc");
    find(gpm_sample, "nvmlGpmSampleGet");
    find(gpm_metrics, "nvmlGpmMetricsGet");
  }

  int (*init)();
  int (*driver)(char*, unsigned);
  int (*count)(unsigned*);
  int (*by_index)(unsigned, void**);
  int (*uuid)(void*, char*, unsigned);
  int (*name)(void*, char*, unsigned);
  int (*capability)(void*, int*, int*);
  int (*utilization)(void*, Utilization*);
  int (*memory)(void*, Memory*);
  int (*power)(void*, unsigned*);
  int (*power_limit)(void*, unsigned*);
  int (*energy)(void*, unsigned long long*);
  int (*temperature)(void*, unsigned, unsigned*);
  int (*clock)(void*, unsigned, unsigned*);
  int (*throttle)(void*, unsigned long long*);
  int (*event_set)(void**);
  int (*register_events)(void*, unsigned long long, void*);
  int (*event_wait)(void*, EventData*, unsigned);
  int (*gpm_support)(void*, GpmSupport*);
  int (*gpm_alloc)(void**);
  int (*gpm_sample)(void*, void*);
  int (*gpm_metrics)(GpmMetrics*);
};

Nvml* Nvml::open() {
  static std::mutex mutex;
  static Nvml* opened = nullptr;  // never closed: at exit the driver may unload first
  const std::scoped_lock lock(mutex);
  if (opened) return opened;
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  auto fresh = new Nvml;
  fresh->calls_ = new Calls(library);
  if (fresh->start()) return opened = fresh;
  delete fresh->calls_;
  delete fresh;
  dlclose(library);
  return nullptr;
}

bool Nvml::start() {
  const Calls& c = *calls_;
  if (!c.init || !c.count || !c.by_index || c.init() != ok) return false;
  driver_ = text(c.driver);
  const bool events = c.event_set && c.register_events && c.event_wait && c.event_set(&events_) == ok;
  for (unsigned i = 0, n = ask<unsigned>(c.count).value_or(0); i < n; ++i) {
    const auto handle = ask<void*>(c.by_index, i);
    if (!handle) continue;
    Gpu gpu{*handle, std::to_string(i), text(c.uuid, *handle), text(c.name, *handle), ""};
    if (int major = 0, minor = 0; c.capability && c.capability(*handle, &major, &minor) == ok)
      gpu.capability = std::to_string(major) + "." + std::to_string(minor);
    gpu.power_limit = scaled(ask<unsigned>(c.power_limit, *handle), 1e-3);
    if (events) c.register_events(*handle, xid_event, events_);
    GpmSupport support{1, 0};
    const bool activity = c.gpm_support && c.gpm_alloc && c.gpm_sample && c.gpm_metrics &&
                          c.gpm_support(*handle, &support) == ok && support.supported;
    for (auto& samples : samples_) {
      void* sample = nullptr;
      if (activity && c.gpm_alloc(&sample) != ok) sample = nullptr;
      samples.push_back(sample);
    }
    if (samples_[0].back() && samples_[1].back()) c.gpm_sample(*handle, samples_[0].back());
    gpus_.push_back(std::move(gpu));
  }
  if (!events) events_ = nullptr;
  return true;
}

Nvml::Reading Nvml::read(const Gpu& gpu, bool slow) {
  const Calls& c = *calls_;
  void* const h = gpu.handle;
  Reading r;
  if (const auto u = ask<Utilization>(c.utilization, h); u && u->gpu <= 100) r.busy = u->gpu / 100.0;
  if (const auto m = ask<Memory>(c.memory, h))
    r.memory_used = double(m->used), r.memory_total = double(m->total);
  r.throttle = ask<unsigned long long>(c.throttle, h);
  read_activity(std::size_t(&gpu - gpus_.data()), r);
  if (!slow) return r;
  r.power = scaled(ask<unsigned>(c.power, h), 1e-3);
  r.energy = scaled(ask<unsigned long long>(c.energy, h), 1e-3);
  r.temperature = scaled(ask<unsigned>(c.temperature, h, die_temperature), 1);
  r.sm_clock = scaled(ask<unsigned>(c.clock, h, sm_clock), 1e6);
  return r;
}

Nvml::Reading Nvml::read_clocks(const Gpu& gpu) const {
  Reading r;
  r.throttle = ask<unsigned long long>(calls_->throttle, gpu.handle);
  r.temperature = scaled(ask<unsigned>(calls_->temperature, gpu.handle, die_temperature), 1);
  r.sm_clock = scaled(ask<unsigned>(calls_->clock, gpu.handle, sm_clock), 1e6);
  return r;
}

void Nvml::read_activity(std::size_t gpu, Reading& r) {
  void *&before = samples_[0][gpu], *&after = samples_[1][gpu];
  if (!before || !after || calls_->gpm_sample(gpus_[gpu].handle, after) != ok) return;
  static auto& query = *new GpmMetrics;
  query = {1, 4, before, after, {{2}, {3}, {5}, {10}}};  // SM_UTIL, SM_OCCUPANCY, ANY_TENSOR, DRAM_BW
  std::swap(before, after);
  if (calls_->gpm_metrics(&query) != ok) return;
  std::optional<double>* const into[] = {&r.sm_active, &r.sm_occupancy, &r.tensor_active, &r.dram_active};
  for (int i = 0; i < 4; ++i)
    if (const GpmMetric& m = query.metrics[i]; m.status == ok && m.value >= 0 && m.value <= 100)
      *into[i] = m.value / 100;
}

std::vector<std::pair<std::size_t, std::uint64_t>> Nvml::xid_errors() {
  constexpr int most = 100;
  std::vector<std::pair<std::size_t, std::uint64_t>> errors;
  EventData event{};
  for (int i = 0; events_ && i < most && calls_->event_wait(events_, &event, 0) == ok; ++i)
    for (std::size_t g = 0; g < gpus_.size(); ++g)
      if (gpus_[g].handle == event.device && event.type == xid_event) errors.emplace_back(g, event.data);
  return errors;
}

std::string nvidia_driver() {
  SystemFile file("/proc/driver/nvidia/version");
  std::string line;
  std::smatch found;
  if (std::getline(file, line) && std::regex_search(line, found, std::regex(R"(\s(\d+\.\d+(\.\d+)?)\s)")))
    return found[1];
  const Nvml* nvml = Nvml::open();
  return nvml ? nvml->driver() : "";
}

}  // namespace kolmo
