#pragma once
#include <cstdint>

#include "kolmo/base/hd.hpp"

#ifndef __CUDA_ARCH__
#include <atomic>
#endif

namespace kolmo {

/// Receives reports of invalid data from an operator's code on any device: fault number `fault` of
/// OpInfo::faults, at element `index`. Of several reports one is kept, whatever the order of threads: that of
/// the earliest launch, then of the lowest fault, then of the lowest index. Without a word (the unchecked
/// mode) reports are discarded, and operators may skip the checks.
struct Status {
  unsigned long long* word = nullptr;
  unsigned long long launch = 0;  ///< the launch's number, in the upper 16 bits

  static constexpr unsigned long long none = ~0ull;
  static constexpr int index_bits = 40;

  KOLMO_HD explicit operator bool() const { return word != nullptr; }
  KOLMO_HD void report(int fault, std::int64_t index) const {
    if (!word) return;
    constexpr unsigned long long largest = (1ull << index_bits) - 1;
    const auto at = static_cast<unsigned long long>(index);
    const unsigned long long value =
        launch | static_cast<unsigned long long>(fault) << index_bits | (at < largest ? at : largest);
#ifdef __CUDA_ARCH__
    atomicMin(word, value);
#else
    std::atomic_ref<unsigned long long> kept(*word);
    unsigned long long before = kept.load(std::memory_order_relaxed);
    while (value < before && !kept.compare_exchange_weak(before, value, std::memory_order_relaxed)) {}
#endif
  }
};

}  // namespace kolmo
