#include <cuda_runtime_api.h>

#include <atomic>
#include <mutex>
#include <string>

#include "kolmo/runtime/backend.hpp"
#include "kolmo/runtime/cuda/gate.hpp"
#include "kolmo/runtime/event_cost.hpp"
#include "kolmo/runtime/memory/mapped.hpp"
#include "kolmo/runtime/memory/pool.hpp"
#include "kolmo/runtime/nvml.hpp"

namespace kolmo {
namespace {

/// Whether an error destroys the context: nothing on the device is valid or usable afterwards.
bool sticky(cudaError_t e) {
  switch (e) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
    case cudaErrorAssert:
      return true;
    default:
      return false;
  }
}

/// Fused multiply-adds per cycle of a multiprocessor: in f64, in f32, in matrix products of f64, and in
/// matrix products of 16-bit numbers with sums in f32 on tensor cores. A rate is 0 if devices of one
/// capability differ in it.
/// Source: CUDA C++ Programming Guide (arithmetic instructions); data sheets of A100, H100, B200, B300.
struct Rates {
  int capability;
  double f64, f32, matrix_f64, matrix_16;
};
constexpr Rates rates[] = {{80, 32, 64, 64, 1024},   {86, 2, 128, 2, 0},       {89, 2, 128, 2, 0},
                           {90, 64, 128, 128, 2048}, {100, 64, 128, 64, 4096}, {103, 2, 128, 2, 4096},
                           {120, 2, 128, 2, 0}};

std::string version(int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); }

/// The memory pools of devices, by index.
std::atomic<cudaMemPool_t> pools[64];

/// While an object of this class lives, its thread may make calls that do not belong to a capture but that
/// CUDA forbids while another library captures in its strict modes. Without it such a call would end the
/// capture.
class BesideCapture {
 public:
  BesideCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~BesideCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  BesideCapture(const BesideCapture&) = delete;
  BesideCapture& operator=(const BesideCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int index) : index_(index) {
    const CurrentDevice before;
    use();
    check(cudaGetDeviceProperties(&properties_, index_), "reading the properties");
    if (properties_.major < 8)
      fail<Unsupported>(name() + ": this GPU has compute capability " + std::to_string(properties_.major) +
                        "." + std::to_string(properties_.minor) + ", and Kolmo needs 8.0 or later");
    cudaMemPoolProps pool{};
    pool.allocType = cudaMemAllocationTypePinned;
    pool.location = {cudaMemLocationTypeDevice, index_};
    check(cudaMemPoolCreate(&driver_pool_, &pool), "making the memory pool");
    if (index_ < int(std::size(pools))) pools[index_] = driver_pool_;
    std::uint64_t keep = ~std::uint64_t(0);  // by default every synchronisation releases memory
    check(cudaMemPoolSetAttribute(driver_pool_, cudaMemPoolAttrReleaseThreshold, &keep),
          "configuring the memory pool");
    int hidden_waits = 0;  // Kolmo's pool handles reuse between streams, where it is visible
    check(cudaMemPoolSetAttribute(driver_pool_, cudaMemPoolReuseAllowInternalDependencies, &hidden_waits),
          "configuring the memory pool");
    check(cudaStreamCreateWithFlags(&outside_capture_, cudaStreamNonBlocking), "making a stream");
  }

  DeviceInfo info() const override {
    int driver = 0, runtime = 0, memory_clock = 0, bus = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    cudaDeviceGetAttribute(&memory_clock, cudaDevAttrMemoryClockRate, index_);  // kHz, double data rate
    cudaDeviceGetAttribute(&bus, cudaDevAttrGlobalMemoryBusWidth, index_);      // bits
    DeviceInfo i;
    i.device = {DeviceKind::cuda, index_};
    i.name = properties_.name;
    static const std::string kernel_driver = nvidia_driver();
    i.driver = (kernel_driver.empty() ? "" : "driver " + kernel_driver + ", ") + "CUDA " + version(driver) +
               ", runtime " + version(runtime);
    i.capability = std::to_string(properties_.major) + "." + std::to_string(properties_.minor);
    i.processors = properties_.multiProcessorCount;
    i.memory = properties_.totalGlobalMem;
    i.cache = std::uint64_t(properties_.l2CacheSize);
    i.bytes_per_second = 2.0 * memory_clock * 1e3 * bus / 8;
    int clock = 0;  // the highest clock, kHz
    cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, index_);
    const double cycles = 2.0 * i.processors * clock * 1e3;
    for (const Rates& r : rates)
      if (r.capability == 10 * properties_.major + properties_.minor)
        i.flops_f64 = cycles * r.f64, i.flops_f32 = cycles * r.f32,
        i.matrix_flops_f64 = cycles * r.matrix_f64, i.matrix_flops_16 = cycles * r.matrix_16;
    return i;
  }

  void* allocate(std::size_t bytes, Handle s) override {
    const BesideCapture beside;
    use();
    void* p = nullptr;
    const cudaError_t e = cudaMallocFromPoolAsync(&p, bytes, driver_pool_, order(s));
    if (e == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      std::size_t free = 0, total = 0;
      cudaMemGetInfo(&free, &total);
      fail<OutOfMemory>(name() + ": no memory for " + std::to_string(bytes) + " bytes; " +
                        std::to_string(free) + " of " + std::to_string(total) + " are free");
    }
    check(e, "allocating");
    if (!s || capturing(s)) check(cudaStreamSynchronize(outside_capture_), "allocating");
    return p;
  }
  void deallocate(void* data, std::size_t, Handle s) noexcept override {
    const BesideCapture beside;
    if (!lost_) cudaFreeAsync(data, order(s));
  }
  void* allocate_host(std::size_t bytes) override {
    const BesideCapture beside;
    use();
    void* const p = memory::map_touched(bytes);
    const cudaError_t e = cudaHostRegister(p, bytes, cudaHostRegisterDefault);
    if (e != cudaSuccess) memory::unmap(p, bytes);
    check(e, "page-locking memory");
    return p;
  }
  void deallocate_host(void* data, std::size_t bytes) noexcept override {
    const BesideCapture beside;
    cudaHostUnregister(data);
    memory::unmap(data, bytes);
  }
  void trim() override {
    use();
    check(cudaStreamSynchronize(outside_capture_), "trimming the memory pool");
    check(cudaMemPoolTrimTo(driver_pool_, 0), "trimming the memory pool");
  }
  memory::Pool& pool() override { return pool_; }

  Handle make_stream() override {
    use();
    cudaStream_t s;
    check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "making a stream");
    return s;
  }
  Handle make_background_stream() override {
    use();
    int lowest = 0, highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "reading the priorities of streams");
    cudaStream_t s;
    check(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, lowest), "making a stream");
    return s;
  }
  void destroy_stream(Handle s) noexcept override {
    if (!lost_) cudaStreamDestroy(stream(s));
  }
  Handle borrow_stream(void* native) override {
    use();
    if (!native) return cudaStreamLegacy;
    const auto s = static_cast<cudaStream_t>(native);
    require(s != cudaStreamPerThread, name() + ": cudaStreamPerThread is another stream in every thread");
    // CUDA does not tell the device of a stream that is being captured.
    if (s == cudaStreamLegacy || capturing(s)) return s;
    int device = index_;
    check(cudaStreamGetDevice(s, &device), "asking for the device of a stream");
    require(device == index_, name() + ": the borrowed stream is of cuda:" + std::to_string(device));
    return s;
  }
  void return_stream(Handle) noexcept override {}
  bool captured_by_owner(Handle s) override { return capturing(s); }
  void synchronize(Handle s) override { check(cudaStreamSynchronize(stream(s)), "waiting"); }
  std::shared_ptr<void> hold(Handle s) override {
    use();
    if (!gate_) gate_ = std::make_unique<Gate>();
    return gate_->close(s);
  }
  void submit(Handle, std::function<void()> work) override {
    use();
    work();
  }
  void copy(void* to, const void* from, std::size_t bytes, Handle s) override {
    use();
    cudaError_t e = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream(s));
    if (e == cudaErrorInvalidValue && (reach(to) | reach(from)))
      e = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream(s));
    check(e, "copying");
  }
  void fill(void* to, int byte, std::size_t bytes, Handle s) override {
    use();
    check(cudaMemsetAsync(to, byte, bytes, stream(s)), "filling");
  }

  Handle make_event(bool timed) override {
    use();
    cudaEvent_t e;
    const unsigned flags = timed ? cudaEventDefault : cudaEventDisableTiming | cudaEventBlockingSync;
    check(cudaEventCreateWithFlags(&e, flags), "making an event");
    return e;
  }
  void destroy_event(Handle e) noexcept override {
    if (!lost_) cudaEventDestroy(event(e));
  }
  void record(Handle e, Handle s) override { check(cudaEventRecord(event(e), stream(s)), "recording"); }
  void wait(Handle s, Handle e) override { check(cudaStreamWaitEvent(stream(s), event(e)), "waiting"); }
  void synchronize_event(Handle e) override { check(cudaEventSynchronize(event(e)), "waiting"); }
  bool done(Handle e) override {
    const BesideCapture beside;
    const cudaError_t state = cudaEventQuery(event(e));
    if (state == cudaErrorNotReady) {
      cudaGetLastError();  // clears the error, else the next launch would report it
      return false;
    }
    check(state, "waiting");
    return true;
  }
  double seconds(Handle from, Handle to) override {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, event(from), event(to)), "timing");
    return ms * 1e-3;
  }
  double event_cost() override {
    std::call_once(event_cost_known_, [&] {
      try {
        event_cost_ = measure_event_cost({DeviceKind::cuda, index_});
      } catch (const Error&) {  // the next call on this device reports it
      }
    });
    return event_cost_;
  }

  void begin_capture(Handle s) override {
    use();
    // Relaxed: while this stream is captured, workspaces are allocated on another stream.
    check(cudaStreamBeginCapture(stream(s), cudaStreamCaptureModeRelaxed), "capturing");
  }
  Handle end_capture(Handle s) override {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream(s), &graph), "capturing");
    cudaGraphExec_t executable = nullptr;
    const cudaError_t e = cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    check(e, "building a graph");
    return executable;
  }
  void abandon_capture(Handle s) noexcept override {
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream(s), &graph);
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();
  }
  void launch_graph(Handle g, Handle s) override {
    use();
    check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(g), stream(s)), "launching a graph");
  }
  void destroy_graph(Handle g) noexcept override {
    if (!lost_) cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(g));
  }

 private:
  static cudaStream_t stream(Handle s) { return static_cast<cudaStream_t>(s); }
  static cudaEvent_t event(Handle e) { return static_cast<cudaEvent_t>(e); }
  std::string name() const { return "cuda:" + std::to_string(index_); }

  /// If `memory` comes from the pool of another device, gives this device access to that pool. Returns false
  /// if it comes from no pool, or if the pool cannot be reached.
  bool reach(const void* memory) const {
    cudaGetLastError();
    cudaPointerAttributes a{};
    if (cudaPointerGetAttributes(&a, memory) != cudaSuccess || a.type != cudaMemoryTypeDevice ||
        a.device == index_ || a.device >= int(std::size(pools)) || !pools[a.device])
      return false;
    cudaMemAccessDesc access{};
    access.location = {cudaMemLocationTypeDevice, index_};
    access.flags = cudaMemAccessFlagsProtReadWrite;
    return cudaMemPoolSetAccess(pools[a.device], &access, 1) == cudaSuccess;
  }
  bool capturing(Handle s) const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(stream(s), &status);
    return status != cudaStreamCaptureStatusNone;
  }
  /// The stream in whose order an allocation is made; never one that is being captured.
  cudaStream_t order(Handle s) const { return !s || capturing(s) ? outside_capture_ : stream(s); }

  void use() {
    if (lost_) fail<DeviceError>(name() + " was lost after an earlier error");
    check(cudaSetDevice(index_), "selecting the device");
  }
  void check(cudaError_t e, const char* doing) {
    if (e == cudaSuccess) return;
    cudaGetLastError();
    if (sticky(e)) lost_ = true;
    const std::string what = name() + ": error while " + doing + ": " + cudaGetErrorString(e);
    if (e == cudaErrorMemoryAllocation) fail<OutOfMemory>(what);
    fail<DeviceError>(what);
  }

  int index_;
  std::atomic<bool> lost_ = false;
  cudaDeviceProp properties_{};
  cudaMemPool_t driver_pool_ = nullptr;
  cudaStream_t outside_capture_ = nullptr;
  memory::Pool pool_{*this, {.name = name()}};
  std::unique_ptr<Gate> gate_;
  std::once_flag event_cost_known_;
  double event_cost_ = 0;
};

}  // namespace

CurrentDevice::CurrentDevice() {
  if (cudaGetDevice(&before_) != cudaSuccess) cudaGetLastError(), before_ = -1;
}
CurrentDevice::CurrentDevice(Device device) {
  if (device.kind != DeviceKind::cuda || cudaGetDevice(&before_) != cudaSuccess) return;
  cudaSetDevice(device.index);
}
CurrentDevice::~CurrentDevice() {
  if (before_ >= 0) cudaSetDevice(before_);
}

int cuda_device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

std::unique_ptr<Backend> make_cuda_backend(int index) {
  const int count = cuda_device_count();
  if (index >= count) {
    const std::string have = count == 0   ? "this machine has no usable NVIDIA GPU"
                             : count == 1 ? "this machine has one GPU, cuda:0"
                                          : "this machine has " + std::to_string(count) + " GPUs";
    fail<Unsupported>("cuda:" + std::to_string(index) + ": " + have);
  }
  return std::make_unique<CudaBackend>(index);
}

}  // namespace kolmo
