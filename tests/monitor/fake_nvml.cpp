// A fake of NVIDIA's management library with two GPUs: one older than Hopper; the other newer, hot, with
// activity counters and an XID error. nvml.h documents the functions.
#include <cstring>

namespace {
int gpus[2];
bool newer(void* device) { return device == &gpus[1]; }
int copy(const char* text, char* to, unsigned size) {
  std::strncpy(to, text, size);
  return 0;
}
struct Sample {
  int taken = 0;
} samples[8];
int made = 0, taken = 0;
bool reported = false;
}  // namespace

extern "C" {
struct Utilization {
  unsigned gpu, memory;
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
  double value;
  const char* names[3];
};
struct GpmMetrics {
  unsigned version, count;
  Sample *before, *after;
  GpmMetric metrics[1];
};

int nvmlInit_v2() { return 0; }
int nvmlSystemGetDriverVersion(char* to, unsigned size) { return copy("580.95.05", to, size); }
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 2, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** device) { return *device = &gpus[i], 0; }
int nvmlDeviceGetUUID(void* d, char* to, unsigned size) {
  return copy(newer(d) ? "GPU-b" : "GPU-a", to, size);
}
int nvmlDeviceGetName(void* d, char* to, unsigned size) { return copy(newer(d) ? "New" : "Old", to, size); }
int nvmlDeviceGetCudaComputeCapability(void* d, int* major, int* minor) {
  *major = newer(d) ? 9 : 8, *minor = 0;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* d, Utilization* u) {
  *u = {newer(d) ? 97u : 4294967295u, 0};  // an invalid value, which some drivers return
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, Memory* m) { return *m = {1000, 250, 750}, 0; }
int nvmlDeviceGetPowerUsage(void* d, unsigned* milliwatts) { return *milliwatts = 412500, newer(d) ? 0 : 3; }
int nvmlDeviceGetTotalEnergyConsumption(void* d, unsigned long long* mj) {
  return *mj = 5000, newer(d) ? 0 : 3;
}
int nvmlDeviceGetTemperature(void*, unsigned sensor, unsigned* celsius) {
  return *celsius = 61, sensor ? 2 : 0;
}
int nvmlDeviceGetClockInfo(void*, unsigned type, unsigned* mhz) { return *mhz = type == 1 ? 1980 : 0, 0; }
int nvmlDeviceGetCurrentClocksEventReasons(void* d, unsigned long long* bits) {
  return *bits = newer(d) ? 0x40 : 0x1, 0;
}
int nvmlEventSetCreate(void** set) { return *set = &reported, 0; }
int nvmlDeviceRegisterEvents(void*, unsigned long long types, void*) { return types == 8 ? 0 : 2; }
int nvmlEventSetWait_v2(void*, EventData* event, unsigned milliseconds) {
  if (milliseconds != 0 || reported) return 10;  // time-out; waiting would delay the reader
  reported = true;
  *event = {&gpus[1], 8, 79, 0, 0};
  return 0;
}
int nvmlGpmQueryDeviceSupport(void* d, GpmSupport* s) { return s->supported = newer(d), 0; }
int nvmlGpmSampleAlloc(void** sample) { return *sample = &samples[made++], 0; }
int nvmlGpmSampleGet(void*, void* sample) { return static_cast<Sample*>(sample)->taken = ++taken, 0; }
int nvmlGpmMetricsGet(GpmMetrics* query) {
  if (query->version != 1 || query->before->taken >= query->after->taken) return 2;  // wrong order
  for (unsigned i = 0; i < query->count; ++i) {
    GpmMetric& m = query->metrics[i];
    m.status = m.id == 5 ? 3 : 0;  // no tensor activity
    m.value = 10.0 * m.id;
  }
  return 0;
}
}
