#include <cuda_runtime.h>

#include "bench/memory_arms.hpp"
#include "kolmo/base/error.hpp"

namespace kolmo::bench {
namespace {

void check(cudaError_t e) {
  if (e != cudaSuccess) fail<DeviceError>(std::string("bench: ") + cudaGetErrorString(e));
}

class Blocking final : public Session {
 public:
  Piece get(std::size_t bytes) override {
    Piece p;
    check(cudaMalloc(&p.data, bytes));
    return p;
  }
  void put(Piece p, std::size_t) override { check(cudaFree(p.data)); }
};

class Async final : public Session {
 public:
  Async(int device, std::uint64_t threshold) {
    cudaMemPoolProps pool{};
    pool.allocType = cudaMemAllocationTypePinned;
    pool.location.type = cudaMemLocationTypeDevice;
    pool.location.id = device;
    check(cudaMemPoolCreate(&pool_, &pool));
    check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &threshold));
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~Async() override {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
    cudaMemPoolDestroy(pool_);
  }
  Piece get(std::size_t bytes) override {
    Piece p;
    check(cudaMallocFromPoolAsync(&p.data, bytes, pool_, stream_));
    return p;
  }
  void put(Piece p, std::size_t) override { check(cudaFreeAsync(p.data, stream_)); }

 private:
  cudaMemPool_t pool_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::vector<Arm> cuda_arms(Device device) {
  const auto async = [device](std::uint64_t threshold) {
    return [=]() -> std::unique_ptr<Session> {
      check(cudaSetDevice(device.index));
      return std::make_unique<Async>(device.index, threshold);
    };
  };
  return {{"cudaMalloc",
           [device]() -> std::unique_ptr<Session> {
             check(cudaSetDevice(device.index));
             return std::make_unique<Blocking>();
           }},
          {"cudaMallocAsync, threshold 0", async(0)},
          {"cudaMallocAsync, no threshold", async(~0ull)}};
}

}  // namespace kolmo::bench
