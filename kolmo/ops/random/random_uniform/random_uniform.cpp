#include "kolmo/ops/random/random_uniform/random_uniform.hpp"

#include <cmath>

#include "kolmo/base/random.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo {
namespace {
using A = RandomUniformArgs;

void check(const A& a) {
  require(a.low <= a.high && std::isfinite(a.high - a.low),
          "random_uniform: low must not exceed high, and both must be finite");
}

template <class T>
RandomSequence<T, UniformValue<T>> sequence(const A& a) {
  using C = Compute<T>;
  return {Philox(std::uint64_t(a.seed)), {C(a.low), C(a.high) - C(a.low)}, a.offset, a.n, a.values.as<T>()};
}

void cpu(const A& a, void*, Stream& s) {
  visit<double, float, Half, BFloat16>(a.values.dtype, [&]<class T> {
    const auto random = sequence<T>(a);
    parallel_ranges(s.threads(), random.blocks(), [&](std::int64_t b, std::int64_t end) {
      for (; b < end; ++b) random.write(b);
    });
  });
}

// The oracle does the same in long double: exactly for [0, 1), else with two roundings of numbers below 8.
constexpr Case<A> cases[] = {
    {.name = "n=1", .sizes = {{"n", 1}}},
    {.name = "n=1001 f64 from 3",
     .sizes = {{"n", 1001}},
     .tolerance = 0x1p-50,
     .setup = [](A& a) { a.seed = -5, a.offset = 3, a.low = -2, a.high = 6; }},
    {.name = "n=1002 f32", .sizes = {{"n", 1002}}, .dtype = DType::f32},
    {.name = "n=1003 f32 from 2^33 + 1",
     .sizes = {{"n", 1003}},
     .dtype = DType::f32,
     .tolerance = 0x1p-21,
     .setup = [](A& a) { a.seed = 7, a.offset = (1ll << 33) + 1, a.low = -2, a.high = 6; }},
    {.name = "n=515 f16", .sizes = {{"n", 515}}, .dtype = DType::f16},
    {.name = "n=516 bf16", .sizes = {{"n", 516}}, .dtype = DType::bf16},
    {.name = "n=2^24 f32", .sizes = {{"n", 1 << 24}}, .dtype = DType::f32, .benchmark_only = true},
    {.name = "n=2^24 f64", .sizes = {{"n", 1 << 24}}, .benchmark_only = true},
};

}  // namespace

constinit const Op<A> random_uniform{
    {.name = "random_uniform",
     .summary = "values = low + (high - low) u, u uniform on [0, 1), from Philox4x32-10",
     .source = "Salmon et al., SC 2011",
     .determinism = Determinism::everywhere},
    // A conversion, a product, and product and sum with the bounds; integer operations do not count.
    {.check = check, .flops = [](const A& a) { return 4.0 * double(a.n); }, .cpu = cpu, .cases = cases}};

}  // namespace kolmo
