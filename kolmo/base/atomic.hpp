#pragma once
#include <cstdint>

#include "kolmo/base/hd.hpp"

#ifndef __CUDA_ARCH__
#include <atomic>
#endif

namespace kolmo {

// Reads and writes of numbers that several threads of any device use at once. Each function is atomic, but
// does not order other reads and writes. Those that change a number return its former value.

using Word = unsigned long long;

KOLMO_HD inline Word atomic_read(const Word* p) {
#ifdef __CUDA_ARCH__
  return *static_cast<const volatile Word*>(p);
#else
  return std::atomic_ref(*const_cast<Word*>(p)).load(std::memory_order_relaxed);
#endif
}
KOLMO_HD inline void atomic_write(Word* p, Word v) {
#ifdef __CUDA_ARCH__
  *static_cast<volatile Word*>(p) = v;
#else
  std::atomic_ref(*p).store(v, std::memory_order_relaxed);
#endif
}
/// Writes v if *p equals `old`.
KOLMO_HD inline Word atomic_exchange_if(Word* p, Word old, Word v) {
#ifdef __CUDA_ARCH__
  return atomicCAS(p, old, v);
#else
  std::atomic_ref(*p).compare_exchange_strong(old, v, std::memory_order_relaxed);
  return old;
#endif
}
KOLMO_HD inline Word atomic_add(Word* p, Word v) {
#ifdef __CUDA_ARCH__
  return atomicAdd(p, v);
#else
  return std::atomic_ref(*p).fetch_add(v, std::memory_order_relaxed);
#endif
}
KOLMO_HD inline Word atomic_min(Word* p, Word v) {
#ifdef __CUDA_ARCH__
  return atomicMin(p, v);
#else
  std::atomic_ref word(*p);
  Word old = word.load(std::memory_order_relaxed);
  while (v < old && !word.compare_exchange_weak(old, v, std::memory_order_relaxed)) {}
  return old;
#endif
}
KOLMO_HD inline Word atomic_max(Word* p, Word v) {
#ifdef __CUDA_ARCH__
  return atomicMax(p, v);
#else
  std::atomic_ref word(*p);
  Word old = word.load(std::memory_order_relaxed);
  while (v > old && !word.compare_exchange_weak(old, v, std::memory_order_relaxed)) {}
  return old;
#endif
}

}  // namespace kolmo
