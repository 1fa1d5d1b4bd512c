#pragma once
#include <array>
#include <concepts>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kolmo/runtime/stream.hpp"

namespace kolmo {

/// A tensor that owns its memory, contiguous and row-major, on the host or on a stream's device. A
/// default-constructed array is "not given". Moving keeps the address. Device memory returns to its pool in
/// the stream's order.
class Array {
 public:
  Tensor tensor;

  Array() = default;
  /// Makes an array on the host, with all bytes zero.
  template <class Shape>
  Array(DType dtype, const Shape& shape)
      : tensor(kolmo::tensor(nullptr, dtype, shape)), host_(tensor.bytes()) {
    tensor.data = host_.data();
  }
  /// Makes an array on the stream's device, whose contents are not initialised.
  template <class Shape>
  Array(DType dtype, const Shape& shape, Stream& stream)
      : tensor(kolmo::tensor(nullptr, dtype, shape, stream.device())), buffer_(tensor.bytes(), stream) {
    tensor.data = buffer_.data();
  }
  /// Copies the values into an array on the host, which is one-dimensional unless a shape is given. Throws
  /// InvalidArgument if the number of values differs from the shape's number of elements.
  template <class T>
  explicit Array(const std::vector<T>& values) : Array(values, std::array{std::int64_t(values.size())}) {}
  template <class T, class Shape>
  requires(!std::same_as<Shape, Stream>) Array(const std::vector<T>& values, const Shape& shape)
      : Array(dtype_of<T>, shape) {
    require(std::size_t(tensor.size()) == values.size(),
            "array: " + std::to_string(values.size()) + " values do not fill " + shape_string(tensor));
    if (!values.empty()) std::memcpy(host_.data(), values.data(), host_.size());
  }

  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array other) noexcept {
    swap(other);
    return *this;
  }

  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(tensor.data), tensor.bytes()}; }
  /// The elements of an array on the host. Throws InvalidArgument if it is on another device or of another
  /// dtype.
  template <class T>
  std::span<T> values() const {
    require(in_host_memory(tensor.device), "array: the values are on " + to_string(tensor.device));
    return {tensor.as<T>(), std::size_t(tensor.size())};
  }

  /// Queues a copy to the stream's device. This array must live until the copy is done.
  Array to_device(Stream& stream) const {
    if (!tensor.given()) return {};
    Array copy(tensor.dtype, tensor.shape(), stream);
    stream.copy(copy.tensor, tensor);
    return copy;
  }
  /// Copies to the host after the work queued on the stream so far; waits for it.
  Array to_host(Stream& stream) const {
    if (!tensor.given()) return {};
    Array copy(tensor.dtype, tensor.shape());
    stream.copy(copy.tensor, tensor);
    stream.synchronize();
    return copy;
  }

 private:
  void swap(Array& other) noexcept {
    std::swap(tensor, other.tensor), host_.swap(other.host_), std::swap(buffer_, other.buffer_);
  }

  std::vector<std::byte> host_;
  Buffer buffer_;
};

}  // namespace kolmo
