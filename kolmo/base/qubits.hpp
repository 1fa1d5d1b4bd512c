#pragma once
// State vectors: amplitude i of a state of q qubits belongs to the basis state in which qubit k is bit k of
// i.
#include <bit>
#include <span>
#include <string>
#include <string_view>

#include "kolmo/base/hd.hpp"
#include "kolmo/base/tensor.hpp"

namespace kolmo {

/// Inserts a 0 into i as bit number `bit`. For i = 0, 1, 2, ... this lists all numbers in which that bit is
/// 0, in order.
KOLMO_HD constexpr std::int64_t insert_zero(std::int64_t i, int bit) {
  const std::int64_t low = i & ((std::int64_t(1) << bit) - 1);
  return (i - low) * 2 + low;
}

constexpr std::int64_t bit_mask(std::span<const std::int64_t> qubits) {
  std::int64_t mask = 0;
  for (const std::int64_t q : qubits) mask |= std::int64_t(1) << q;
  return mask;
}

/// Throws InvalidArgument unless the last extent of the state is a power of two and `qubits`, the value of `option`,
/// names different qubits of it.
inline void check_qubits(std::string_view op, std::string_view option, const Tensor& state,
                         std::span<const std::int64_t> qubits) {
  const auto n = std::uint64_t(state.dim(-1));
  const auto refuse = [&](const std::string& why) { fail<InvalidArgument>(std::string(op) + ": " + why); };
  if (!std::has_single_bit(n))
    refuse("state has " + std::to_string(n) + " amplitudes, which is no power of two");
  const int count = std::countr_zero(n);
  std::int64_t seen = 0;
  for (const std::int64_t q : qubits) {
    const auto named = [&] { return std::string(option) + " names qubit " + std::to_string(q); };
    if (q >= count) refuse(named() + ", which does not exist: state has " + std::to_string(count));
    if (seen >> q & 1) refuse(named() + " twice");
    seen |= std::int64_t(1) << q;
  }
}

}  // namespace kolmo
