#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "kolmo/runtime/cpu/vectors.hpp"

namespace kolmo {

/// Eight numbers side by side in registers of the CPU.
typedef double Lanes __attribute__((vector_size(8 * sizeof(double))));

/// Reads as many numbers from an address on as V holds: one of double, eight of Lanes.
template <class V>
void read(const double* from, V& v) {
  std::memcpy(&v, from, sizeof v);
}

/// Sums over i in [0, n) of the K terms that term(i, terms) writes, where `terms` is a std::array<V, K>&: those of i if V is
/// double, those of i ... i + 7 if it is Lanes. Lane j adds the terms of i = j mod 8, and the lanes are added in halves:
/// same bits with every instruction set.
template <std::size_t K, class Term>
std::array<double, K> lane_sums(std::size_t n, const Term& term) {
  constexpr std::size_t lanes = 8;
  std::array<double, K> sums;
  by_instruction_set([&] {
    std::array<Lanes, K> all{};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      std::array<Lanes, K> terms;
      term(i, terms);
#pragma GCC unroll 8
      for (std::size_t k = 0; k < K; ++k) all[k] += terms[k];
    }
    for (std::size_t j = 0; i < n; ++i, ++j) {
      std::array<double, K> terms;
      term(i, terms);
      for (std::size_t k = 0; k < K; ++k) all[k][j] += terms[k];
    }
    for (std::size_t half = lanes / 2; half; half /= 2)
      for (std::size_t k = 0; k < K; ++k)
        for (std::size_t j = 0; j < half; ++j) all[k][j] += all[k][j + half];
    for (std::size_t k = 0; k < K; ++k) sums[k] = all[k][0];
  });
  return sums;
}

/// The largest absolute value; NaN counts as 0.
inline double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  by_instruction_set([&, from = values.data(), n = values.size()] {
    Lanes most{};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
      Lanes v;
      read(from + i, v);
      const Lanes magnitude = v < 0 ? -v : v;
      most = magnitude > most ? magnitude : most;
    }
    for (; i < n; ++i) most[0] = std::max(most[0], from[i] < 0 ? -from[i] : from[i]);
    for (std::size_t j = 0; j < 8; ++j) largest = std::max(largest, most[j]);
  });
  return largest;
}

}  // namespace kolmo
