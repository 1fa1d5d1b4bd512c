#pragma once
#include "kolmo/base/hd.hpp"

namespace kolmo {

/// A complex number with the layout of std::complex. Products are not guarded against overflow of
/// intermediate values.
template <class T>
struct Complex {
  T re{}, im{};

  friend KOLMO_HD constexpr bool operator==(const Complex&, const Complex&) = default;
  friend KOLMO_HD constexpr Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend KOLMO_HD constexpr Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend KOLMO_HD constexpr Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend KOLMO_HD constexpr Complex operator*(T s, Complex a) { return {s * a.re, s * a.im}; }
};

template <class T>
KOLMO_HD constexpr Complex<T> conjugate(Complex<T> a) {
  return {a.re, -a.im};
}
/// |a|^2.
template <class T>
KOLMO_HD constexpr T square_modulus(Complex<T> a) {
  return a.re * a.re + a.im * a.im;
}

}  // namespace kolmo
