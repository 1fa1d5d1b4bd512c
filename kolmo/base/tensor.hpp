#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "kolmo/base/dtype.hpp"
#include "kolmo/base/error.hpp"

namespace kolmo {

enum class DeviceKind : std::uint8_t { cpu, cuda, simt };
inline constexpr std::size_t device_kinds = 3;

/// Where memory lives and work runs. `simt` is the emulated GPU, which runs CUDA sources on the CPU for
/// tests. Index 0 of `cpu` is the CPU; other indices are devices that a program added (add_backend).
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  friend constexpr bool operator==(Device, Device) = default;
};

std::string to_string(Device d);

inline constexpr int max_rank = 6;

struct Tensor;
/// Thrown when a tensor is read as a dtype other than its own, or when there is no code for its dtype. The
/// code that dispatches an operator adds the names of the operator and the argument to the message.
struct WrongDType : InvalidArgument {
  WrongDType(const std::string& what, const void* d, SourceLocation where)
      : InvalidArgument(what, where), data(d) {}
  const void* data;  ///< data of the tensor concerned
};
struct NoCode : Unsupported {
  NoCode(const std::string& what, DType t, SourceLocation where) : Unsupported(what, where), dtype(t) {}
  DType dtype;
};
[[noreturn]] void no_code_for(const Tensor& t, DType wanted);
[[noreturn]] void no_code_for(DType t);

/// Type-erased, non-owning tensor with the layout of DLPack's DLTensor; the argument type of every operator.
/// Strides count elements. A default-constructed tensor is "not given".
struct Tensor {
  void* data = nullptr;
  DType dtype = DType::f64;
  Device device{};
  int rank = -1;
  std::array<std::int64_t, max_rank> extent{}, stride{};

  constexpr bool given() const { return rank >= 0; }
  /// Extents, one per dimension.
  constexpr std::span<const std::int64_t> shape() const {
    return {extent.data(), std::size_t(given() ? rank : 0)};
  }
  constexpr std::int64_t size() const {
    std::int64_t n = given();
    for (int i = 0; i < rank; ++i) n *= extent[std::size_t(i)];
    return n;
  }
  /// The extent of a dimension. Negative indices count from the end: -1 is the last dimension.
  constexpr std::int64_t dim(int d) const { return extent[std::size_t(d < 0 ? rank + d : d)]; }
  constexpr std::size_t bytes() const { return std::size_t(size()) * size_of(dtype); }
  constexpr bool contiguous() const {
    std::int64_t expected = 1;
    for (int i = rank - 1; i >= 0; --i) {
      if (extent[std::size_t(i)] != 1 && stride[std::size_t(i)] != expected) return size() == 0;
      expected *= extent[std::size_t(i)];
    }
    return true;
  }
  template <class T>
  T* as() const {
    if (given() && dtype != dtype_of<T>) no_code_for(*this, dtype_of<T>);
    return static_cast<T*>(data);
  }
};

/// A contiguous (row-major) tensor over memory the caller owns.
template <class Shape>
Tensor tensor(void* data, DType dtype, const Shape& shape, Device device = {}) {
  Tensor t{data, dtype, device, 0, {}, {}};
  for (const auto e : shape) {
    if (t.rank == max_rank) fail<InvalidArgument>("a tensor has at most 6 dimensions");
    t.extent[std::size_t(t.rank++)] = std::int64_t(e);
  }
  std::int64_t step = 1;
  for (int i = t.rank - 1; i >= 0; --i) t.stride[std::size_t(i)] = step, step *= t.extent[std::size_t(i)];
  return t;
}
template <class T>
Tensor tensor(T* data, std::initializer_list<std::int64_t> shape, Device device = {}) {
  return tensor(const_cast<std::remove_const_t<T>*>(data), dtype_of<T>, shape, device);
}
std::string shape_string(const Tensor& t);  // "(3, 4) f64 on cpu"

/// Views a contiguous complex tensor as one row of real numbers, its real and imaginary parts by turns. Any
/// other tensor is returned unchanged.
inline Tensor parts(const Tensor& t) {
  if (!complexes.has(t.dtype)) return t;
  return tensor(t.data, real_of(t.dtype), std::array{2 * t.size()}, t.device);
}

// The direction of an argument is part of its type. OptIn and OptOut may be left out.
// clang-format off
struct In : Tensor { In() = default; In(const Tensor& t) : Tensor(t) {} };
struct Out : Tensor { Out() = default; Out(const Tensor& t) : Tensor(t) {} };
struct InOut : Tensor { InOut() = default; InOut(const Tensor& t) : Tensor(t) {} };
struct OptIn : Tensor { OptIn() = default; OptIn(const Tensor& t) : Tensor(t) {} };
struct OptOut : Tensor { OptOut() = default; OptOut(const Tensor& t) : Tensor(t) {} };
// clang-format on

/// Calls f.operator()<T>() with the element type of `t`, which must be one of Ts.
template <class... Ts, class F>
void visit(DType t, F&& f) {
  const bool hit = ((dtype_of<Ts> == t ? (f.template operator()<Ts>(), true) : false) || ...);
  if (!hit) no_code_for(t);
}

}  // namespace kolmo
