#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "kolmo/base/error.hpp"
#include "kolmo/base/half.hpp"
#include "kolmo/base/hd.hpp"

namespace kolmo {

enum class DType : std::uint8_t { f64, f32, f16, bf16, i64, i32, u8 };
enum class DeviceKind : std::uint8_t { cpu, cuda, simt, sim };

/// Where memory lives and work runs. For tests: `simt` is the emulated GPU, which runs CUDA sources on the
/// CPU, and `sim` a device that keeps virtual time (kolmo/runtime/sim), which no user is offered.
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  friend constexpr bool operator==(Device, Device) = default;
};

inline constexpr DType all_dtypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16,
                                       DType::i64, DType::i32, DType::u8};
constexpr std::size_t size_of(DType t) {
  constexpr std::size_t bytes[] = {8, 4, 2, 2, 8, 4, 1};
  return bytes[std::size_t(t)];
}
constexpr std::string_view to_string(DType t) {
  constexpr std::string_view names[] = {"f64", "f32", "f16", "bf16", "i64", "i32", "u8"};
  return names[std::size_t(t)];
}
std::string to_string(Device d);

template <class T>
struct DTypeOf;
// clang-format off
template <> struct DTypeOf<double> { static constexpr DType value = DType::f64; };
template <> struct DTypeOf<float> { static constexpr DType value = DType::f32; };
template <> struct DTypeOf<Half> { static constexpr DType value = DType::f16; };
template <> struct DTypeOf<BFloat16> { static constexpr DType value = DType::bf16; };
template <> struct DTypeOf<std::int64_t> { static constexpr DType value = DType::i64; };
template <> struct DTypeOf<std::int32_t> { static constexpr DType value = DType::i32; };
template <> struct DTypeOf<std::uint8_t> { static constexpr DType value = DType::u8; };
// clang-format on
template <class T>
inline constexpr DType dtype_of = DTypeOf<std::remove_cv_t<T>>::value;

/// A set of dtypes an operator accepts for a field, e.g. `DTypes::of(DType::f32, DType::f64)`.
struct DTypes {
  std::uint32_t mask = 0;
  template <class... T>
  static constexpr DTypes of(T... t) {
    return {((1u << unsigned(t)) | ...)};
  }
  constexpr bool has(DType t) const { return mask >> unsigned(t) & 1; }
  constexpr bool single() const { return mask && !(mask & (mask - 1)); }
  constexpr DType first() const { return DType(std::countr_zero(mask)); }
};
inline constexpr DTypes reals = DTypes::of(DType::f64, DType::f32);
inline constexpr DTypes floats = DTypes::of(DType::f64, DType::f32, DType::f16, DType::bf16);

/// Typed, strided window on memory: what kernels take. Trivially copyable; strides count elements.
template <class T, int Rank>
struct View {
  T* data;
  std::int64_t extent[Rank], stride[Rank];

  template <class... I>
  KOLMO_HD constexpr T& operator()(I... i) const {
    static_assert(sizeof...(I) == Rank, "one index per dimension");
    std::int64_t at = 0;
    int d = 0;
    ((at += std::int64_t(i) * stride[d++]), ...);
    return data[at];
  }
};

inline constexpr int max_rank = 6;

/// Type-erased, non-owning tensor, laid out like DLPack's DLTensor: the public currency of every operator.
/// Strides count elements. A default-constructed tensor is "not given".
struct Tensor {
  void* data = nullptr;
  DType dtype = DType::f64;
  Device device{};
  int rank = -1;
  std::array<std::int64_t, max_rank> extent{}, stride{};

  constexpr bool given() const { return rank >= 0; }
  constexpr std::int64_t size() const {
    std::int64_t n = given();
    for (int i = 0; i < rank; ++i) n *= extent[std::size_t(i)];
    return n;
  }
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
    if (given() && dtype != dtype_of<T>)
      fail<InvalidArgument>("tensor holds " + std::string(to_string(dtype)));
    return static_cast<T*>(data);
  }
  template <class T, int Rank>
  View<T, Rank> view() const {
    if (rank != Rank) fail<InvalidArgument>("tensor has rank " + std::to_string(rank));
    View<T, Rank> v{as<T>(), {}, {}};
    for (int i = 0; i < Rank; ++i) v.extent[i] = extent[std::size_t(i)], v.stride[i] = stride[std::size_t(i)];
    return v;
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

// The direction of an argument is part of its type. Optional ones may be left out.
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
  if (!hit) fail<Unsupported>("no code for dtype " + std::string(to_string(t)));
}

}  // namespace kolmo
