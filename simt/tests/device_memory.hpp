#pragma once
// An array in device memory: copied there on construction, read back as a vector. For the emulator, heap
// memory of the exact size, aligned as by cudaMalloc.

#include <cstring>
#include <new>
#include <vector>

#ifdef SIMT_TESTS_ON_GPU
#include <cuda_runtime.h>

#include <stdexcept>
#endif

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : size_(values.size()) {
#ifdef SIMT_TESTS_ON_GPU
    check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()));
    check(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
#else
    data_ = static_cast<T*>(::operator new(bytes(), alignment));
    std::memcpy(data_, values.data(), bytes());
#endif
  }
  explicit DeviceArray(std::size_t n, T value = T()) : DeviceArray(std::vector<T>(n, value)) {}
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() {
#ifdef SIMT_TESTS_ON_GPU
    cudaFree(data_);
#else
    ::operator delete(data_, alignment);
#endif
  }

  T* data() { return data_; }
  std::vector<T> read() const {
    std::vector<T> values(size_);
#ifdef SIMT_TESTS_ON_GPU
    check(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
#else
    std::memcpy(values.data(), data_, bytes());
#endif
    return values;
  }

 private:
  static constexpr std::align_val_t alignment{256};
  std::size_t bytes() const { return size_ * sizeof(T); }
#ifdef SIMT_TESTS_ON_GPU
  static void check(cudaError_t e) {
    if (e != cudaSuccess) throw std::runtime_error(cudaGetErrorString(e));
  }
#endif
  std::size_t size_;
  T* data_ = nullptr;
};
