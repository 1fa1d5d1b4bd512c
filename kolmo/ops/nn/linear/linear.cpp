#include "kolmo/ops/nn/linear/linear.hpp"

#include <string>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/nn/linear/linear_steps.hpp"

namespace kolmo {
namespace {
using A = LinearArgs;

std::int64_t outputs(const A& a) { return a.weight.dim(a.layout == WeightLayout::out_in ? 0 : 1); }

void check(const A& a) {
  const std::int64_t k = a.weight.dim(a.layout == WeightLayout::out_in ? 1 : 0);
  if (k != a.x.dim(-1))
    fail<InvalidArgument>("linear: weight is " + shape_string(a.weight) + " and takes rows of " +
                          std::to_string(k) + ", but x has rows of " + std::to_string(a.x.dim(-1)));
  if (a.bias.given() && a.bias.dim(0) != outputs(a))
    fail<InvalidArgument>("linear: bias is " + shape_string(a.bias) + ", but weight has " +
                          std::to_string(outputs(a)) + " outputs");
}

// The error is that of matmul: k + 3 roundings of sums of normal products, below 0.64 k + 6 sqrt(k) + 8 in
// all; here k <= 130 and sqrt(k) < 12. gelu has a slope below 1.13 and errs by 4 units itself. Results are
// rounded to their dtype; the baseline rounds three times instead of once.
constexpr double units = 1.13 * (133 * (0.64 * 130 + 6 * 12 + 8) + 4), f64 = units * 0x1p-53,
                 f32 = units * 0x1p-24;
// In 16 bits, the baseline rounds the product, its sum with a bias below 4.5 and the result, each by half a unit in the
// last place, and gelu multiplies the first two by its slope: at most 3.4 |y| + 5.1 half units.
constexpr Tolerance f16 = 9 * 0x1p-11, bf16 = 9 * 0x1p-8;

constexpr Case<A> cases[] = {
    {.name = "1 x 1 x 1 f64", .sizes = {{"...", 1}, {"k", 1}, {"w0", 1}, {"w1", 1}}, .tolerance = f64},
    {.name = "33 rows of 17 to 65 f64, gelu_tanh(x W' + bias)",
     .sizes = {{"...", 33}, {"k", 17}, {"w0", 65}, {"w1", 17}, {"n", 65}},
     .tolerance = f64,
     .optional = "bias",
     .setup = [](A& a) { a.activation = Activation::gelu_tanh; }},
    {.name = "5 rows of 130 to 31 f32",
     .sizes = {{"...", 5}, {"k", 130}, {"w0", 31}, {"w1", 130}},
     .dtype = DType::f32,
     .tolerance = f32},
    {.name = "fused_linear_relu, 18 rows of 40 to 33 f32",
     .sizes = {{"...", 18}, {"k", 40}, {"w0", 33}, {"w1", 40}, {"n", 33}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "bias",
     .alias = "fused_linear_relu"},
    {.name = "fused_linear_gelu, 16 rows of 32 to 24 f16",
     .sizes = {{"...", 16}, {"k", 32}, {"w0", 24}, {"w1", 32}, {"n", 24}},
     .dtype = DType::f16,
     .tolerance = f16,
     .optional = "bias",
     .alias = "fused_linear_gelu"},
    {.name = "fused_matmul_relu, 7 rows of 19 to 21 bf16",
     .sizes = {{"...", 7}, {"k", 19}, {"w0", 19}, {"w1", 21}},
     .dtype = DType::bf16,
     .tolerance = bf16,
     .alias = "fused_matmul_relu"},
    {.name = "fused_linear_relu, 8192 rows of 1024 to 1024 f32",
     .sizes = {{"...", 8192}, {"k", 1024}, {"w0", 1024}, {"w1", 1024}, {"n", 1024}},
     .dtype = DType::f32,
     .optional = "bias",
     .benchmark_only = true,
     .alias = "fused_linear_relu"},
    {.name = "fused_linear_gelu, 8192 rows of 1024 to 4096 f16",
     .sizes = {{"...", 8192}, {"k", 1024}, {"w0", 4096}, {"w1", 1024}, {"n", 4096}},
     .dtype = DType::f16,
     .optional = "bias",
     .benchmark_only = true,
     .alias = "fused_linear_gelu"},
    {.name = "fused_matmul_relu, 65536 rows of 64 to 64 f32",
     .sizes = {{"...", 65536}, {"k", 64}, {"w0", 64}, {"w1", 64}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .alias = "fused_matmul_relu"},
};

constexpr AliasInfo aliases[] = {
    {.name = "fused_linear_relu",
     .summary = "y = max(x W' + bias, 0)",
     .binds = {bind<&A::activation, Activation::relu>, bind<&A::layout, WeightLayout::out_in>}},
    {.name = "fused_linear_gelu",
     .summary = "y = gelu(x W' + bias), the exact gelu",
     .binds = {bind<&A::activation, Activation::gelu>, bind<&A::layout, WeightLayout::out_in>}},
    {.name = "fused_matmul_relu",
     .summary = "y = max(x W, 0), W given as k n",
     .binds = {bind<&A::activation, Activation::relu>, bind<&A::layout, WeightLayout::in_out>}},
};

constinit const Definition<LinearArgs> definition{
    {.name = "linear",
     .summary = "y = activation(x W' + bias) for every row of x",
     .source = "Goodfellow, Bengio & Courville 2016, chapter 6",
     .determinism = Determinism::run_to_run,
     .matrix_products = true},
    {.check = check,
     .sizes =
         [](const A& a, Dims& dims) {
           if (!dims.has("n")) dims.set("n", outputs(a));
         },
     .flops = [](const A& a) { return 2.0 * double(a.y.size()) * double(a.x.dim(-1)); },
     .cases = cases,
     .aliases = aliases}};

}  // namespace

constinit const Op<LinearArgs> linear{definition};
constinit const Alias<LinearArgs> fused_linear_relu{definition, aliases[0]};
constinit const Alias<LinearArgs> fused_linear_gelu{definition, aliases[1]};
constinit const Alias<LinearArgs> fused_matmul_relu{definition, aliases[2]};
extern constinit const Impl<LinearArgs> linear_cpu{linear_code};

}  // namespace kolmo
