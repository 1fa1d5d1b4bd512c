#pragma once
#include <utility>

#include "kolmo/runtime/backend.hpp"

namespace kolmo {

/// Host memory for copies to and from a device that go on while the host does something else.
class HostBuffer {
 public:
  HostBuffer() = default;
  HostBuffer(std::size_t bytes, Device device)
      : backend_(&backend(device)), bytes_(bytes), data_(backend_->allocate_host(bytes)) {}
  HostBuffer(HostBuffer&& other) noexcept
      : backend_(other.backend_),
        bytes_(std::exchange(other.bytes_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  HostBuffer& operator=(HostBuffer other) noexcept {
    std::swap(backend_, other.backend_), std::swap(bytes_, other.bytes_), std::swap(data_, other.data_);
    return *this;
  }
  ~HostBuffer() {
    if (data_) backend_->deallocate_host(data_, bytes_);
  }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::size_t bytes() const { return bytes_; }

 private:
  Backend* backend_ = nullptr;
  std::size_t bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace kolmo
