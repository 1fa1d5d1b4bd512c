#pragma once
#include <algorithm>
#include <cstdint>

namespace kolmo {

#if defined(__x86_64__) && !defined(__AVX512BW__)
namespace detail {

#ifdef __clang__
#define KOLMO_WIDE_VECTORS ""
#else
#define KOLMO_WIDE_VECTORS ",prefer-vector-width=512"
#endif

// All that f calls is compiled into these functions, for their instruction set. No multiplications and
// additions are fused there either.
template <class F>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl" KOLMO_WIDE_VECTORS), gnu::flatten, gnu::noinline]] void
by_avx512(const F& f) {
  f();
}
#undef KOLMO_WIDE_VECTORS
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

/// Calls f(), which is compiled once per instruction set; the best one of this processor is chosen at run
/// time. The bits are the same with every instruction set.
template <class F>
void by_instruction_set(const F& f) {
#if defined(__x86_64__) && !defined(__AVX512BW__)
  if (detail::has_avx512()) return detail::by_avx512(f);
  if (detail::has_avx2()) return detail::by_avx2(f);
#endif
  f();
}

/// Number of elements, at most n, before the first element of `out` that is at a multiple of 64 bytes. From
/// there on stores write whole cache lines, which takes two thirds of the time.
template <class T>
std::int64_t before_line(const T* out, std::int64_t n) {
  const auto past = reinterpret_cast<std::uintptr_t>(out) % 64;
  return std::min(n, std::int64_t((64 - past) % 64 / sizeof(T)));
}

/// Calls step(i) for i in [0, n), several at once in vectors if the compiler can do that. If `out` is given,
/// its cache lines are written as a whole. Steps must be independent; a step may write what it alone has
/// read.
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
