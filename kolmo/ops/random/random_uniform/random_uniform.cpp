#include "kolmo/ops/random/random_uniform/random_uniform.hpp"

#include <cmath>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/random/random_uniform/uniform_values.hpp"
#include "kolmo/skeleton/draw_cpu.hpp"

namespace kolmo {
namespace {
using A = RandomUniformArgs;

void check(const A& a) {
  require(a.low <= a.high && std::isfinite(a.high - a.low),
          "random_uniform: low must not exceed high, and both must be finite");
}

// The oracle computes in long double. For [0, 1) the results are equal; for other ranges there are two
// roundings of numbers below 8.
constexpr Case<A> cases[] = {
    {.name = "n=1", .sizes = {{"n", 1}}},
    {.name = "n=1001 f64 from 3",
     .sizes = {{"n", 1001}},
     .tolerance = 0x1p-50,
     .setup = [](A& a) { a.seed = ~0ull - 4, a.offset = 3, a.low = -2, a.high = 6; }},
    {.name = "n=1002 f32", .sizes = {{"n", 1002}}, .dtype = DType::f32},
    {.name = "n=4403 f32", .sizes = {{"n", 4403}}, .dtype = DType::f32},
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

constinit const Definition<RandomUniformArgs> definition{
    {.name = "random_uniform",
     .summary = "values = low + (high - low) u, u uniform on [0, 1), from Philox4x32-10",
     .source = "Salmon et al., SC 2011",
     .determinism = Determinism::everywhere},
    // Each number takes a conversion and a product, then a product and a sum with the bounds. Operations on
    // integers are not counted.
    {.check = check, .flops = [](const A& a) { return 4.0 * double(a.n); }, .cases = cases}};

}  // namespace

constinit const Op<RandomUniformArgs> random_uniform{definition};
extern constinit const Impl<RandomUniformArgs> random_uniform_cpu = cpu::draw<UniformDraws>();

}  // namespace kolmo
