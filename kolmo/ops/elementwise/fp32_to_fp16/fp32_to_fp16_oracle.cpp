#include <algorithm>
#include <bit>
#include <cmath>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/elementwise/fp32_to_fp16/fp32_to_fp16.hpp"

namespace kolmo::check {
namespace {

/// Rounds x to a multiple of the spacing of halves at |x|, by nearbyint, which rounds ties to even.
void expected(const Fp32ToFp16Args& a) {
  for (std::int64_t i = 0; i < a.x.size(); ++i) {
    const double x = double(get(a.x, i));
    const double spacing = std::ldexp(1.0, std::max(std::ilogb(x), -14) - 10);
    const double nearest = x == 0 ? x : std::nearbyint(x / spacing) * spacing;
    put(a.y, i, std::abs(nearest) > 65504 ? std::copysign(INFINITY, x) : nearest);
  }
}

std::uint16_t converted(float x, Stream& s) {
  Half y;
  y.bits = 0x5555;
  call(fp32_to_fp16, {.x = tensor(&x, {}), .y = tensor(&y, {})}, s);
  return y.bits;
}

constexpr Fact facts[] = {
    {"1, -2, 65504, and the smallest subnormal",
     [](Stream& s) {
       expect(converted(1, s) == 0x3c00 && converted(-2, s) == 0xc000, "wrong powers of two");
       expect(converted(65504, s) == 0x7bff, "wrong largest half");
       expect(converted(0x1p-24f, s) == 1 && converted(-0x1p-24f, s) == 0x8001, "wrong subnormals");
     }},
    {"ties go to even",
     [](Stream& s) {
       expect(converted(1 + 0x1p-11f, s) == 0x3c00 && converted(1 + 0x3p-11f, s) == 0x3c02, "ties");
       expect(converted(0x1p-25f, s) == 0 && converted(0x3p-25f, s) == 2, "ties of subnormals");
       expect(converted(0x1.000002p-25f, s) == 1, "just above a tie");
     }},
    {"65520 and above become inf, what is below 65504",
     [](Stream& s) {
       expect(converted(65520, s) == 0x7c00 && converted(-1e30f, s) == 0xfc00, "no infinity");
       expect(converted(std::nextafter(65520.0f, 0.0f), s) == 0x7bff, "infinity too early");
       expect(converted(INFINITY, s) == 0x7c00, "infinity lost");
     }},
    {"signed zeros stay, and NaN keeps sign and payload",
     [](Stream& s) {
       expect(converted(0, s) == 0 && converted(-0.0f, s) == 0x8000, "wrong zeros");
       expect(converted(std::bit_cast<float>(0x7fc00000u), s) == 0x7e00, "wrong NaN");
       expect(converted(std::bit_cast<float>(0xff802000u), s) == 0xfe01, "wrong signalling NaN");
     }},
};

}  // namespace

extern constinit const Oracle<Fp32ToFp16Args> fp32_to_fp16_oracle{fp32_to_fp16, expected, facts};

}  // namespace kolmo::check
