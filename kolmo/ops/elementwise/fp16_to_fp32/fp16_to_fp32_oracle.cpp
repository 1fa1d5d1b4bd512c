#include <bit>
#include <cmath>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/elementwise/fp16_to_fp32/fp16_to_fp32.hpp"

namespace kolmo::check {
namespace {

/// Computes the value from sign, exponent and fraction.
void expected(const Fp16ToFp32Args& a) {
  for (std::int64_t i = 0; i < a.x.size(); ++i) {
    const unsigned bits = a.x.as<Half>()[i].bits, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    double value = exponent ? std::ldexp(1024.0 + fraction, int(exponent) - 25) : std::ldexp(fraction, -24);
    if (exponent == 31) value = fraction ? double(NAN) : double(INFINITY);
    put(a.y, i, bits & 0x8000 ? -value : value);
  }
}

std::uint32_t converted(unsigned bits, Stream& s) {
  Half x;
  x.bits = std::uint16_t(bits);
  float y = 7;
  call(fp16_to_fp32, {.x = tensor(&x, {}), .y = tensor(&y, {})}, s);
  return std::bit_cast<std::uint32_t>(y);
}

constexpr Fact facts[] = {
    {"1, -2, 65504, and subnormals",
     [](Stream& s) {
       expect(converted(0x3c00, s) == 0x3f800000 && converted(0xc000, s) == 0xc0000000, "powers of two");
       expect(converted(0x7bff, s) == std::bit_cast<std::uint32_t>(65504.0f), "wrong largest half");
       expect(converted(1, s) == std::bit_cast<std::uint32_t>(0x1p-24f), "wrong smallest subnormal");
       expect(converted(0x83ff, s) == std::bit_cast<std::uint32_t>(-0x3ffp-24f), "wrong largest subnormal");
     }},
    {"zeros, infinities and NaN keep sign and payload",
     [](Stream& s) {
       expect(converted(0, s) == 0 && converted(0x8000, s) == 0x80000000, "wrong zeros");
       expect(converted(0x7c00, s) == 0x7f800000 && converted(0xfc00, s) == 0xff800000, "infinities");
       expect(converted(0x7e00, s) == 0x7fc00000, "wrong quiet NaN");
       expect(converted(0xfc01, s) == 0xffc02000, "wrong signalling NaN");
     }},
};

}  // namespace

extern constinit const Oracle<Fp16ToFp32Args> fp16_to_fp32_oracle{fp16_to_fp32, expected, facts};

}  // namespace kolmo::check
