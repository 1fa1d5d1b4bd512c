#include "kolmo/runtime/cpu/f16c.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

namespace kolmo::f16c {

bool available() {  // clang's __builtin_cpu_supports knows no f16c
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

[[gnu::target("avx,f16c")]] void convert(const float* from, Half* to, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  std::copy(from + i, from + n, to + i);
}

[[gnu::target("avx,f16c")]] void convert(const Half* from, float* to, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  std::copy(from + i, from + n, to + i);
}

}  // namespace kolmo::f16c

#else

namespace kolmo::f16c {

bool available() { return false; }
void convert(const float* from, Half* to, std::int64_t n) { std::copy(from, from + n, to); }
void convert(const Half* from, float* to, std::int64_t n) { std::copy(from, from + n, to); }

}  // namespace kolmo::f16c

#endif
