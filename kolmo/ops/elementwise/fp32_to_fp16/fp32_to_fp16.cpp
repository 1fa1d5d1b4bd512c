#include "kolmo/ops/elementwise/fp32_to_fp16/fp32_to_fp16.hpp"

#include <algorithm>
#include <bit>

#include "kolmo/op/define.hpp"
#include "kolmo/runtime/cpu/f16c.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = Fp32ToFp16Args;

void simple(const A& a, Stream&) {
  const float* x = a.x.as<float>();
  std::copy(x, x + a.x.size(), a.y.as<Half>());
}

void vectors(const A& a, Stream& s) {
  parallel_ranges(s.threads(), a.x.size(), [&](std::int64_t begin, std::int64_t end) {
    f16c::convert(a.x.as<float>() + begin, a.y.as<Half>() + begin, end - begin);
  });
}

constexpr Row<NoConfig> rows[] = {{"F16C vectors"}, {.name = "one by one", .naive = true}};

void cpu(const A& a, Arena, Stream& s, int row) { row == 0 ? vectors(a, s) : simple(a, s); }
bool fits(const A&, int row) { return row != 0 || f16c::available(); }

/// Makes every f16 and the midpoint to the next, with both signs, and the floats next to them.
void around_every_half(A& a) {
  auto* const x = a.x.as<float>();
  for (std::int64_t i = 0; i < a.x.size(); ++i) {
    Half low, high;
    low.bits = std::uint16_t(i / 6 % 0x7bff), high.bits = std::uint16_t(low.bits + 1);
    const float at = i % 6 < 3 ? float(low) : (float(low) + float(high)) / 2;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(at) + std::uint32_t(i % 3) - (at > 0);
    x[i] = std::bit_cast<float>(bits | std::uint32_t(i % 2) << 31);
  }
}

constexpr Case<A> cases[] = {
    {.name = "n=1", .sizes = {{"...", 1}}},
    {.name = "n=1003", .sizes = {{"...", 1003}}},
    {.name = "around every half", .sizes = {{"...", 6 * 0x7bff}}, .setup = around_every_half},
    {.name = "n=2^24", .sizes = {{"...", 1 << 24}}, .benchmark_only = true},
};

constinit const Definition<Fp32ToFp16Args> definition{
    {.name = "fp32_to_fp16",
     .summary = "y = x rounded to half precision, to nearest even",
     .source = "IEEE 754-2019, 5.4.2",
     .determinism = Determinism::everywhere},
    {.flops = [](const A& a) { return double(a.x.size()); }, .cases = cases}};

}  // namespace

constinit const Op<Fp32ToFp16Args> fp32_to_fp16{definition};
extern constinit const Impl<A> fp32_to_fp16_cpu{{.rows = rows, .launch = cpu, .fits = fits}};

}  // namespace kolmo
