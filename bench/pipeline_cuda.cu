#include <cuda_runtime.h>

#include <chrono>
#include <deque>
#include <string>

#include "bench/pipeline_by_hand.hpp"

namespace kolmo::bench {
namespace {

void check(cudaError_t e) {
  if (e != cudaSuccess) fail<DeviceError>(std::string("bench: ") + cudaGetErrorString(e));
}

__global__ void add(const float4* x, float4* z, std::size_t n) {
  const std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const float4 v = x[i];
  z[i] = {v.x + v.x, v.y + v.y, v.z + v.z, v.w + v.w};
}

struct Streams {
  cudaStream_t upload, compute, download;
  Streams() {
    for (cudaStream_t* s : {&upload, &compute, &download})
      check(cudaStreamCreateWithFlags(s, cudaStreamNonBlocking));
  }
  ~Streams() {
    for (cudaStream_t s : {upload, compute, download}) cudaStreamDestroy(s);
  }
};

struct Slot {
  float *host_in, *host_out;
  float4 *in, *out;
  cudaEvent_t uploaded, computed, finished;
  explicit Slot(std::size_t bytes) {
    check(cudaMallocHost(&host_in, bytes)), check(cudaMallocHost(&host_out, bytes));
    check(cudaMalloc(&in, bytes)), check(cudaMalloc(&out, bytes));
    for (cudaEvent_t* e : {&uploaded, &computed, &finished})
      check(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
  }
  ~Slot() {
    cudaFreeHost(host_in), cudaFreeHost(host_out), cudaFree(in), cudaFree(out);
    for (cudaEvent_t e : {uploaded, computed, finished}) cudaEventDestroy(e);
  }
};

}  // namespace

double pipeline_by_hand(int device, std::size_t bytes, int kernels, int slots, int items) {
  check(cudaSetDevice(device));
  const Streams streams;
  std::deque<Slot> all;
  for (int i = 0; i < slots; ++i) all.emplace_back(bytes);
  const std::size_t last = bytes / sizeof(float) - 1, packs = bytes / sizeof(float4);
  const unsigned threads = 256, blocks = unsigned((packs + threads - 1) / threads);
  const auto start = [&](Slot& s, int item) {
    s.host_in[last] = float(item);
    check(cudaMemcpyAsync(s.in, s.host_in, bytes, cudaMemcpyHostToDevice, streams.upload));
    check(cudaEventRecord(s.uploaded, streams.upload));
    check(cudaStreamWaitEvent(streams.compute, s.uploaded));
    for (int k = 0; k < kernels; ++k) add<<<blocks, threads, 0, streams.compute>>>(s.in, s.out, packs);
    check(cudaGetLastError());
    check(cudaEventRecord(s.computed, streams.compute));
    check(cudaStreamWaitEvent(streams.download, s.computed));
    check(cudaMemcpyAsync(s.host_out, s.out, bytes, cudaMemcpyDeviceToHost, streams.download));
    check(cudaEventRecord(s.finished, streams.download));
  };
  const auto finish = [&](const Slot& s, int item) {
    check(cudaEventSynchronize(s.finished));
    if (s.host_out[last] != 2 * float(item)) fail<DeviceError>("bench: a result is wrong");
  };
  const auto run = [&](int count) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count + slots; ++i) {
      Slot& s = all[std::size_t(i % slots)];
      if (i >= slots) finish(s, i - slots);
      if (i < count) start(s, i);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / count;
  };
  run(2 * slots);  // loads the kernel, touches the memory
  return run(items);
}

}  // namespace kolmo::bench
