#pragma once
#include <algorithm>
#include <cstdint>

namespace kolmo {

#if defined(__x86_64__) && !defined(__AVX512BW__)
namespace detail {

// All that f calls is compiled into these, for their instruction set; nothing is fused there either.
template <class F>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"), gnu::flatten,
  gnu::noinline]] void
by_avx512(const F& f) {
  f();
}
template <class F>
[[gnu::target("avx2"), gnu::flatten, gnu::noinline]] void by_avx2(const F& f) {
  f();
}

inline bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl");
  return has;
}
inline bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}

}  // namespace detail
#endif

/// Calls f(), which is compiled once per instruction set; this processor's best is chosen at run time. Same bits with
/// every instruction set.
template <class F>
void by_instruction_set(const F& f) {
#if defined(__x86_64__) && !defined(__AVX512BW__)
  if (detail::has_avx512()) return detail::by_avx512(f);
  if (detail::has_avx2()) return detail::by_avx2(f);
#endif
  f();
}

/// Number of elements before the first of `out` at a multiple of 64 bytes, at most n. Stores of whole cache lines from
/// there on take two thirds of the time of others.
template <class T>
std::int64_t before_line(const T* out, std::int64_t n) {
  const auto past = reinterpret_cast<std::uintptr_t>(out) % 64;
  return std::min(n, std::int64_t((64 - past) % 64 / sizeof(T)));
}

/// Calls step(i) for i in [0, n), several at once in vectors if the compiler can, whole cache lines of `out` if that is
/// given. Steps must be independent; one may write what it alone has read.
template <class Step>
void in_vectors(std::int64_t n, const Step& step) {
  by_instruction_set([&] {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) step(i);
  });
}
template <class T, class Step>
void in_vectors(const T* out, std::int64_t n, const Step& step) {
  const std::int64_t first = before_line(out, n);
  in_vectors(first, step);
  in_vectors(n - first, [&](std::int64_t i) { step(first + i); });
}

}  // namespace kolmo
