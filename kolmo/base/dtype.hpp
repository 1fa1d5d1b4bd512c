#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "kolmo/base/complex.hpp"
#include "kolmo/base/half.hpp"

namespace kolmo {

/// Element types. `boolean` is a byte that is 0 or 1.
enum class DType : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  i64,
  i32,
  u8,
  c128,
  c64,
  i16,
  i8,
  u64,
  u32,
  u16,
  boolean  // clang-format off
};  // clang-format on

inline constexpr DType all_dtypes[] = {DType::f64, DType::f32, DType::f16,  DType::bf16, DType::i64,
                                       DType::i32, DType::u8,  DType::c128, DType::c64,  DType::i16,
                                       DType::i8,  DType::u64, DType::u32,  DType::u16,  DType::boolean};
constexpr std::size_t size_of(DType t) {
  constexpr std::size_t bytes[] = {8, 4, 2, 2, 8, 4, 1, 16, 8, 2, 1, 8, 4, 2, 1};
  return bytes[std::size_t(t)];
}
constexpr std::string_view to_string(DType t) {
  constexpr std::string_view names[] = {"f64", "f32", "f16", "bf16", "i64", "i32", "u8",  "c128",
                                        "c64", "i16", "i8",  "u64",  "u32", "u16", "bool"};
  return names[std::size_t(t)];
}
/// The type of the real and imaginary parts of a complex number, and of its magnitude. A real type is
/// returned unchanged.
constexpr DType real_of(DType t) { return t == DType::c128 ? DType::f64 : t == DType::c64 ? DType::f32 : t; }

template <class T>
struct DTypeOf;
// clang-format off
template <> struct DTypeOf<double> { static constexpr DType value = DType::f64; };
template <> struct DTypeOf<float> { static constexpr DType value = DType::f32; };
template <> struct DTypeOf<Half> { static constexpr DType value = DType::f16; };
template <> struct DTypeOf<BFloat16> { static constexpr DType value = DType::bf16; };
template <> struct DTypeOf<Complex<double>> { static constexpr DType value = DType::c128; };
template <> struct DTypeOf<Complex<float>> { static constexpr DType value = DType::c64; };
template <> struct DTypeOf<std::int64_t> { static constexpr DType value = DType::i64; };
template <> struct DTypeOf<std::int32_t> { static constexpr DType value = DType::i32; };
template <> struct DTypeOf<std::int16_t> { static constexpr DType value = DType::i16; };
template <> struct DTypeOf<std::int8_t> { static constexpr DType value = DType::i8; };
template <> struct DTypeOf<std::uint64_t> { static constexpr DType value = DType::u64; };
template <> struct DTypeOf<std::uint32_t> { static constexpr DType value = DType::u32; };
template <> struct DTypeOf<std::uint16_t> { static constexpr DType value = DType::u16; };
template <> struct DTypeOf<std::uint8_t> { static constexpr DType value = DType::u8; };
template <> struct DTypeOf<bool> { static constexpr DType value = DType::boolean; };
// clang-format on
template <class T>
inline constexpr DType dtype_of = DTypeOf<std::remove_cv_t<T>>::value;

/// The dtypes that a tensor argument accepts: DTypes::of(DType::i64, DType::i32).as("I"). Arguments with the
/// same variable have one dtype. Sets of several dtypes without a name share the variable "T".
struct DTypes {
  std::uint32_t mask = 0;
  std::string_view variable = {};
  bool real_part = false;  ///< the real part of the variable's dtype: f32 for c64

  template <class... T>
  static constexpr DTypes of(T... t) {
    DTypes all{((1u << unsigned(t)) | ...)};
    if (!all.single()) all.variable = "T";
    return all;
  }
  constexpr DTypes as(std::string_view name) const { return {mask, name, real_part}; }
  constexpr bool has(DType t) const { return mask >> unsigned(t) & 1; }
  constexpr bool single() const { return mask && !(mask & (mask - 1)); }
  constexpr DType first() const { return DType(std::countr_zero(mask)); }
  friend constexpr DTypes operator|(DTypes a, DTypes b) { return {a.mask | b.mask, "T"}; }
};
inline constexpr DTypes reals = DTypes::of(DType::f64, DType::f32);
inline constexpr DTypes floats = DTypes::of(DType::f64, DType::f32, DType::f16, DType::bf16);
inline constexpr DTypes complexes = DTypes::of(DType::c128, DType::c64);
inline constexpr DTypes integers =
    DTypes::of(DType::i64, DType::i32, DType::i16, DType::i8, DType::u64, DType::u32, DType::u16, DType::u8);
/// f64 or f32: the dtype of the real part of the dtype variable.
constexpr DTypes real_of(std::string_view variable) { return {reals.mask, variable, true}; }

}  // namespace kolmo
