#include "kolmo/runtime/cuda/gate.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace kolmo {
namespace {

using Wait = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

class Closed {
 public:
  Closed(std::uint32_t* word, std::uint32_t ticket) : word_(*word), ticket_(ticket) {
    watchdog_ = std::jthread([this](std::stop_token stop) {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, std::chrono::seconds(2), [] { return false; });
      open();
    });
  }

 private:
  void open() {  // never lowers the word: other streams may wait for higher tickets
    std::uint32_t seen = word_.load();
    while (std::int32_t(ticket_ - seen) > 0 && !word_.compare_exchange_weak(seen, ticket_)) {}
  }

  std::atomic_ref<std::uint32_t> word_;
  std::uint32_t ticket_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread watchdog_;  // the last member, so that it stops before others are destroyed
};

}  // namespace

Gate::Gate() {
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &wait_, 12000, cudaEnableDefault, &found) !=
          cudaSuccess ||
      found != cudaDriverEntryPointSuccess)
    wait_ = nullptr;
  void* memory = nullptr;
  if (cudaHostAlloc(&memory, sizeof(std::uint32_t), cudaHostAllocMapped | cudaHostAllocPortable) ==
      cudaSuccess) {
    word_ = static_cast<std::uint32_t*>(memory);
    *word_ = 0;
    cudaHostGetDevicePointer(&on_device_, memory, 0);
  }
  cudaGetLastError();
}

std::shared_ptr<void> Gate::close(void* stream) {
  if (!wait_ || !on_device_) return {};
  const std::uint32_t ticket = tickets_.fetch_add(1) + 1;
  if (reinterpret_cast<Wait>(wait_)(static_cast<CUstream>(stream), reinterpret_cast<CUdeviceptr>(on_device_),
                                    ticket, CU_STREAM_WAIT_VALUE_GEQ) != CUDA_SUCCESS)
    return {};
  return std::make_shared<Closed>(word_, ticket);
}

}  // namespace kolmo
