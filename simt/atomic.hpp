#pragma once
// Atomic functions, for exactly the types that nvcc accepts (half and bfloat16 are in their own headers).

#include <atomic>
#include <concepts>

#include "simt/language.hpp"

namespace simt {

template <class T, class... U>
concept OneOf = (std::same_as<T, U> || ...);
template <class T>
concept AtomicInteger = OneOf<T, int, unsigned, unsigned long long>;
template <class T>
concept AtomicAddable = AtomicInteger<T> || OneOf<T, float, double>;
template <class T>
concept AtomicSubtractable = OneOf<T, int, unsigned>;
template <class T>
concept AtomicOrdered = AtomicInteger<T> || OneOf<T, long long>;
template <class T>
concept AtomicCounter = OneOf<T, unsigned>;
template <class T>
concept AtomicExchangeable = AtomicInteger<T> || OneOf<T, float>;
template <class T>
concept AtomicComparable = AtomicInteger<T> || OneOf<T, unsigned short>;

// ThreadSanitizer ignores fences, so with it every atomic operation is also a fence.
#ifdef __SANITIZE_THREAD__
inline constexpr auto atomic_order = std::memory_order_acq_rel;
#else
inline constexpr auto atomic_order = std::memory_order_relaxed;
#endif

template <class T>
void check_atomic(const T* p, const char* what, const Where& at) {
  if (reinterpret_cast<std::uintptr_t>(p) % sizeof(T)) fail(std::string(what) + ": misaligned address", at);
  check_initialised(p, sizeof(T), what, at);
}

/// Replaces *p by f(*p) atomically, and returns the old value.
template <class T, class F>
T update(T* p, F f) {
  std::atomic_ref<T> a(*p);
  T old = a.load(std::memory_order_relaxed);
  while (!a.compare_exchange_weak(old, f(old), atomic_order)) {}
  return old;
}

/// Computes a + b; integers wrap around.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  else
    return a + b;
}

inline namespace cuda {

// Defines `name` with its _block and _system forms. They update *p, called x, to the value of an expression
// of x and v.
#define SIMT_ATOMIC_FORM(name, Type, expression)            \
  template <Type T>                                         \
  T name(T* p, std::type_identity_t<T> v, SIMT_AT) {        \
    check_atomic(p, #name, at);                             \
    return update(p, [v](T x) -> T { return expression; }); \
  }
#define SIMT_ATOMIC(name, Type, expression)        \
  SIMT_ATOMIC_FORM(name, Type, expression)         \
  SIMT_ATOMIC_FORM(name##_block, Type, expression) \
  SIMT_ATOMIC_FORM(name##_system, Type, expression)

SIMT_ATOMIC(atomicAdd, AtomicAddable, wrapping_add(x, v))
SIMT_ATOMIC(atomicSub, AtomicSubtractable, wrapping_add(x, wrapping_add<T>(~v, 1)))
SIMT_ATOMIC(atomicMax, AtomicOrdered, x > v ? x : v)
SIMT_ATOMIC(atomicMin, AtomicOrdered, x < v ? x : v)
SIMT_ATOMIC(atomicAnd, AtomicInteger, (x & v))
SIMT_ATOMIC(atomicOr, AtomicInteger, (x | v))
SIMT_ATOMIC(atomicXor, AtomicInteger, (x ^ v))
SIMT_ATOMIC(atomicInc, AtomicCounter, x >= v ? 0 : x + 1)
SIMT_ATOMIC(atomicDec, AtomicCounter, x == 0 || x > v ? v : x - 1)
#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_FORM

#define SIMT_EXCHANGE(name, compare_and_swap)                                                      \
  template <AtomicExchangeable T>                                                                  \
  T name(T* p, std::type_identity_t<T> v) {                                                        \
    return std::atomic_ref(*p).exchange(v, atomic_order);                                          \
  }                                                                                                \
  template <AtomicComparable T>                                                                    \
  T compare_and_swap(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> v, SIMT_AT) { \
    check_atomic(p, #compare_and_swap, at);                                                        \
    if (std::atomic_ref(*p).compare_exchange_strong(expected, v, atomic_order)) return expected;   \
    yield(); /* a failed attempt may be a spin lock: let the owner run */                          \
    return expected;                                                                               \
  }
SIMT_EXCHANGE(atomicExch, atomicCAS)
SIMT_EXCHANGE(atomicExch_block, atomicCAS_block)
SIMT_EXCHANGE(atomicExch_system, atomicCAS_system)
#undef SIMT_EXCHANGE

}  // namespace cuda
}  // namespace simt
