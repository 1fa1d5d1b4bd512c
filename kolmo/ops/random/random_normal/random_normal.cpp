#include "kolmo/ops/random/random_normal/random_normal.hpp"

#include <cmath>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/random/random_normal/normal_values.hpp"
#include "kolmo/skeleton/draw_cpu.hpp"

namespace kolmo {
namespace {
using A = RandomNormalArgs;

void check(const A& a) {
  require(std::isfinite(a.mean) && std::isfinite(a.deviation),
          "random_normal: mean and deviation must be finite");
}

// The oracle computes in long double. The error is that of base/normal.hpp times a radius below 8.5 (16-bit
// dtypes: 6.7), plus one rounding of the result, half an ulp of its own for a 16-bit dtype.
constexpr Case<A> cases[] = {
    {.name = "n=1", .sizes = {{"n", 1}}, .tolerance = 8e-15},
    {.name = "n=1001 f64 from 3",
     .sizes = {{"n", 1001}},
     .tolerance = 8e-15,
     .setup = [](A& a) { a.seed = ~0ull - 4, a.offset = 3, a.mean = 1, a.deviation = 0.5; }},
    {.name = "n=1002 f32", .sizes = {{"n", 1002}}, .dtype = DType::f32, .tolerance = 2e-6},
    {.name = "n=4403 f32", .sizes = {{"n", 4403}}, .dtype = DType::f32, .tolerance = 2e-6},
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

constinit const Definition<RandomNormalArgs> definition{
    {.name = "random_normal",
     .summary = "values = mean + deviation z, z standard normal, by Box and Muller, from Philox4x32-10",
     .source = "Salmon et al., SC 2011; Box, Muller, Ann. Math. Statist. 29, 1958",
     .determinism = Determinism::everywhere},
    // Each number takes half a logarithm, a root, a sine and cosine, a product and a sum. Operations on
    // integers are not counted.
    {.check = check, .flops = [](const A& a) { return 40.0 * double(a.n); }, .cases = cases}};

}  // namespace

constinit const Op<RandomNormalArgs> random_normal{definition};
extern constinit const Impl<RandomNormalArgs> random_normal_cpu = cpu::draw<NormalDraws>();

}  // namespace kolmo
