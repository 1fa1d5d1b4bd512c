#pragma once
#include <cstddef>

#include "kolmo/base/tensor.hpp"

namespace kolmo {

/// The bytes from the lowest element of a tensor to the end of its highest, for any strides; empty for a
/// tensor without elements.
struct ByteSpan {
  std::byte *begin, *end;
  std::size_t size() const { return std::size_t(end - begin); }
  bool overlaps(const ByteSpan& other) const { return begin < other.end && other.begin < end; }
};
inline ByteSpan span_of(const Tensor& t) {
  auto* const data = static_cast<std::byte*>(t.data);
  if (!t.size()) return {data, data};
  std::int64_t low = 0, high = 1;
  for (std::size_t d = 0; d < std::size_t(t.rank); ++d)
    (t.stride[d] < 0 ? low : high) += (t.extent[d] - 1) * t.stride[d];
  const auto size = std::int64_t(size_of(t.dtype));
  return {data + low * size, data + high * size};
}

/// The offset of element i (row-major) of a tensor with any strides, counted in elements from `data`.
inline std::int64_t offset_of(const Tensor& t, std::int64_t i) {
  std::int64_t at = 0;
  for (int d = t.rank - 1; d >= 0; --d) {
    at += i % t.dim(d) * t.stride[std::size_t(d)];
    i /= t.dim(d);
  }
  return at;
}

}  // namespace kolmo
