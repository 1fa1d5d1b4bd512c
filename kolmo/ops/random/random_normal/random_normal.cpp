#include "kolmo/ops/random/random_normal/random_normal.hpp"

#include <cmath>

#include "kolmo/base/random.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo {
namespace {
using A = RandomNormalArgs;

void check(const A& a) {
  require(std::isfinite(a.mean) && std::isfinite(a.deviation),
          "random_normal: mean and deviation must be finite");
}

template <class T>
RandomSequence<T, NormalValue<T>> sequence(const A& a) {
  using C = Compute<T>;
  return {Philox(std::uint64_t(a.seed)), {C(a.mean), C(a.deviation)}, a.offset, a.n, a.values.as<T>()};
}

void cpu(const A& a, void*, Stream& s) {
  visit<double, float, Half, BFloat16>(a.values.dtype, [&]<class T> {
    const auto random = sequence<T>(a);
    parallel_ranges(s.threads(), random.blocks(), [&](std::int64_t b, std::int64_t end) {
      for (; b < end; ++b) random.write(b);
    });
  });
}

// The oracle inverts in long double: the errors of base/normal.hpp times |z| < 8.3, and a rounding of the
// result, which a 16-bit dtype makes half an ulp of its own.
constexpr Case<A> cases[] = {
    {.name = "n=1", .sizes = {{"n", 1}}, .tolerance = 8e-15},
    {.name = "n=1001 f64 from 3",
     .sizes = {{"n", 1001}},
     .tolerance = 8e-15,
     .setup = [](A& a) { a.seed = -5, a.offset = 3, a.mean = 1, a.deviation = 0.5; }},
    {.name = "n=1002 f32", .sizes = {{"n", 1002}}, .dtype = DType::f32, .tolerance = 2e-6},
    {.name = "n=1003 f32 from 2^33 + 1",
     .sizes = {{"n", 1003}},
     .dtype = DType::f32,
     .tolerance = 2e-6,
     .setup = [](A& a) { a.seed = 7, a.offset = (1ll << 33) + 1, a.mean = 1, a.deviation = 0.5; }},
    {.name = "n=515 f16", .sizes = {{"n", 515}}, .dtype = DType::f16, .tolerance = 0x1p-11 + 2e-6},
    {.name = "n=516 bf16", .sizes = {{"n", 516}}, .dtype = DType::bf16, .tolerance = 0x1p-8 + 2e-6},
    {.name = "n=2^24 f32", .sizes = {{"n", 1 << 24}}, .dtype = DType::f32, .benchmark_only = true},
    {.name = "n=2^24 f64", .sizes = {{"n", 1 << 24}}, .benchmark_only = true},
};

}  // namespace

constinit const Op<A> random_normal{
    {.name = "random_normal",
     .summary = "values = mean + deviation z, z standard normal, by inversion, from Philox4x32-10",
     .source = "Salmon et al., SC 2011; Wichura, AS 241, 1988",
     .determinism = Determinism::everywhere},
    // Two conversions, a quotient of two polynomials of degree 7, product and sum; integer ones do not count.
    {.check = check, .flops = [](const A& a) { return 40.0 * double(a.n); }, .cpu = cpu, .cases = cases}};

}  // namespace kolmo
