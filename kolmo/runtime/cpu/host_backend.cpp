#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "kolmo/runtime/backend.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/memory/pool.hpp"
#include "kolmo/runtime/memory/size_class.hpp"
#include "kolmo/runtime/system_file.hpp"

namespace kolmo {
namespace {

using Work = std::vector<std::function<void()>>;
using Clock = std::chrono::steady_clock;

struct HostStream {
  std::unique_ptr<Work> capture;
};
struct HostEvent {
  Clock::time_point at;
};

std::string cpu_name() {
  SystemFile info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "CPU";
}

/// The widest instruction set that the vector code uses on this processor.
std::string vector_set() {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return "AVX-512";
  return __builtin_cpu_supports("avx2") ? "AVX2" : "x86-64";
}

std::uint64_t host_memory() {
  struct sysinfo s {};
  sysinfo(&s);
  return std::uint64_t(s.totalram) * s.mem_unit;
}

/// Host memory, with work done at once. Serves `cpu` and, since the emulated GPU runs on the host, `simt`.
class HostBackend final : public Backend {
 public:
  explicit HostBackend(DeviceKind kind)
      : kind_(kind),
        pool_(*this, {.name = to_string(Device{kind, 0}),
                      .keep = std::min<std::uint64_t>(host_memory() / 8, 1 << 30),
                      .on_host = true}) {}
  memory::Pool& pool() override { return pool_; }

  DeviceInfo info() const override {
    DeviceInfo i;
    i.device = {kind_, 0};
    i.name = kind_ == DeviceKind::simt ? "emulated GPU" : cpu_name();
    if (kind_ == DeviceKind::cpu) i.capability = vector_set();
    i.processors = hardware_threads();
    i.memory = host_memory();
    if (kind_ == DeviceKind::cpu) i.cache = std::uint64_t(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
    return i;
  }

  void* allocate(std::size_t bytes, Handle) override {
    const std::size_t rounded = memory::round_up(bytes, memory::alignment);
    void* p = rounded < bytes ? nullptr : std::aligned_alloc(memory::alignment, rounded);
    if (!p) fail<OutOfMemory>("cpu: no memory for " + std::to_string(bytes) + " bytes");
    return p;
  }
  void deallocate(void* data, std::size_t, Handle) noexcept override { std::free(data); }
  void trim() override {}

  Handle make_stream() override { return new HostStream; }
  void destroy_stream(Handle s) noexcept override { delete stream(s); }
  void synchronize(Handle) override {}
  void submit(Handle s, std::function<void()> work) override { do_or_record(s, std::move(work)); }
  void copy(void* to, const void* from, std::size_t bytes, Handle s) override {
    do_or_record(s, [=] { std::memcpy(to, from, bytes); });
  }
  void fill(void* to, int byte, std::size_t bytes, Handle s) override {
    do_or_record(s, [=] { std::memset(to, byte, bytes); });
  }

  Handle make_event(bool) override { return new HostEvent; }
  void destroy_event(Handle e) noexcept override { delete event(e); }
  void record(Handle e, Handle s) override {
    submit(s, [e] { event(e)->at = Clock::now(); });
  }
  void wait(Handle, Handle) override {}
  bool done(Handle) override { return true; }
  void synchronize_event(Handle) override {}
  double seconds(Handle from, Handle to) override {
    return std::chrono::duration<double>(event(to)->at - event(from)->at).count();
  }

  void begin_capture(Handle s) override { stream(s)->capture = std::make_unique<Work>(); }
  Handle end_capture(Handle s) override { return stream(s)->capture.release(); }
  void abandon_capture(Handle s) noexcept override { stream(s)->capture.reset(); }
  void launch_graph(Handle g, Handle s) override {
    for (const auto& work : *static_cast<Work*>(g)) submit(s, work);
  }
  void destroy_graph(Handle g) noexcept override { delete static_cast<Work*>(g); }

 private:
  /// Does the work at once or, while the stream is captured, records it. Only the latter allocates.
  template <class F>
  static void do_or_record(Handle s, F work) {
    if (auto& capture = stream(s)->capture) return void(capture->emplace_back(std::move(work)));
    work();
  }
  static HostStream* stream(Handle s) { return static_cast<HostStream*>(s); }
  static HostEvent* event(Handle e) { return static_cast<HostEvent*>(e); }
  DeviceKind kind_;
  memory::Pool pool_;
};

}  // namespace

std::unique_ptr<Backend> make_host_backend(DeviceKind kind) { return std::make_unique<HostBackend>(kind); }

}  // namespace kolmo
