#include "kolmo/ops/elementwise/fp16_to_fp32/fp16_to_fp32.hpp"

#include <algorithm>

#include "kolmo/op/define.hpp"
#include "kolmo/runtime/cpu/f16c.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = Fp16ToFp32Args;

void simple(const A& a, Stream&) {
  const Half* x = a.x.as<Half>();
  std::copy(x, x + a.x.size(), a.y.as<float>());
}

void vectors(const A& a, Stream& s) {
  parallel_ranges(s.threads(), a.x.size(), [&](std::int64_t begin, std::int64_t end) {
    f16c::convert(a.x.as<Half>() + begin, a.y.as<float>() + begin, end - begin);
  });
}

constexpr Row<NoConfig> rows[] = {{"F16C vectors"}, {.name = "one by one", .naive = true}};

void cpu(const A& a, Arena, Stream& s, int row) { row == 0 ? vectors(a, s) : simple(a, s); }
bool fits(const A&, int row) { return row != 0 || f16c::available(); }

void every_half(A& a) {
  for (std::int64_t i = 0; i < a.x.size(); ++i) a.x.as<Half>()[i].bits = std::uint16_t(i);
}

constexpr Case<A> cases[] = {
    {.name = "n=1", .sizes = {{"...", 1}}},
    {.name = "n=1003", .sizes = {{"...", 1003}}},
    // The CPU splits this many elements into two ranges.
    {.name = "every half", .sizes = {{"...", 0x10003}}, .setup = every_half},
    {.name = "n=2^24", .sizes = {{"...", 1 << 24}}, .benchmark_only = true},
};

constinit const Definition<Fp16ToFp32Args> definition{
    {.name = "fp16_to_fp32",
     .summary = "y = x in single precision, exactly",
     .source = "IEEE 754-2019, 5.4.2",
     .determinism = Determinism::everywhere},
    {.flops = [](const A& a) { return double(a.x.size()); }, .cases = cases}};

}  // namespace

constinit const Op<Fp16ToFp32Args> fp16_to_fp32{definition};
extern constinit const Impl<A> fp16_to_fp32_cpu{{.rows = rows, .launch = cpu, .fits = fits}};

}  // namespace kolmo
