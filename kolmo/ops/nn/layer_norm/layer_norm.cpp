#include "kolmo/ops/nn/layer_norm/layer_norm.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/nn/layer_norm/layer_norm_rows.hpp"
#include "kolmo/skeleton/row_op_cpu.hpp"

namespace kolmo {
namespace {
using A = LayerNormArgs;

void check(const A& a) { require(a.x.dim(-1) > 0, "layer_norm: x must have at least one column"); }

template <class T>
struct LayerNormVectors {
  using C = Compute<T>;
  using Part = Moments<double>;
  static constexpr bool held = false;
  const A& a;
  LayerNormFunctions<C> functions = layer_norm_functions<C>();

  explicit LayerNormVectors(const A& args) : a(args) {}
  Part part(const C* x, std::int64_t n, C*) const { return functions.moments(x, n); }
  void write(const C* x, std::int64_t n, C* y, RowPlace place, const Part&, const Part& whole) const {
    const double rstd = 1 / std::sqrt(whole.squares / whole.n + a.eps);
    const Widened<T, row_part> scale(from(a.scale, place.at), n), shift(from(a.shift, place.at), n);
    functions.normalise({whole.mean, rstd, scale.data(), shift.data(), a.activation}, x, n, y);
    if (place.at == 0 && a.mean.given()) a.mean.as<double>()[place.row] = whole.mean;
    if (place.at == 0 && a.rstd.given()) a.rstd.as<double>()[place.row] = rstd;
  }
  static const T* from(const Tensor& t, std::int64_t at) { return t.given() ? t.as<T>() + at : nullptr; }
};

// x is normal, so |y| < 6 before the scale, which is below 32. The mean is a tree sum of at most 32 + 16
// levels (CPU: 35 within 256 terms, 15 over these, 4 parts): 54 roundings of mean |x| < 1. The variance has
// as many, halved by the square root; scale, shift and activation add a few. In all this is below 128
// roundings, relative to y if |y| > 1. With mean 1000, x itself is off by up to a thousand roundings, and the
// mean by up to 54 thousand. A 16-bit dtype adds half an ulp h |y|, where h >= 64 f32: f32 + h |y| is below
// the larger of 17 f32 and 17/16 h |y|, and so is (f32 + h) |y| above 1.
constexpr double f64 = 128 * 0x1p-53, f32 = 128 * 0x1p-24;
constexpr Tolerance f16{17 * f32, 17 * 0x1p-15}, bf16{17 * f32, 17 * 0x1p-12};
constexpr auto all = "scale shift mean rstd";
constexpr Case<A> cases[] = {
    {.name = "k=1", .sizes = {{"...", 3}, {"k", 1}}, .tolerance = f64},
    {.name = "k=7 f64", .sizes = {{"...", 20}, {"k", 7}}, .tolerance = f64, .optional = all},
    {.name = "k=128 f32 scale",
     .sizes = {{"...", 9}, {"k", 128}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "scale"},
    {.name = "1027 rows of k=36 f32",
     .sizes = {{"...", 1027}, {"k", 36}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = all},
    {.name = "k=1000 f16 shift, relu",
     .sizes = {{"...", 3}, {"k", 1000}},
     .dtype = DType::f16,
     .tolerance = f16,
     .optional = "shift rstd",
     .setup = [](A& a) { a.activation = Activation::relu; }},
    {.name = "k=33 bf16",
     .sizes = {{"...", 5}, {"k", 33}},
     .dtype = DType::bf16,
     .tolerance = bf16,
     .optional = "scale shift"},
    {.name = "k=96 bf16",
     .sizes = {{"...", 5}, {"k", 96}},
     .dtype = DType::bf16,
     .tolerance = bf16,
     .optional = "scale shift"},
    {.name = "k=65 f64, gelu_tanh",
     .sizes = {{"...", 3}, {"k", 65}},
     .tolerance = f64,
     .setup = [](A& a) { a.activation = Activation::gelu_tanh; }},
    {.name = "k=6000 f32", .sizes = {{"...", 2}, {"k", 6000}}, .dtype = DType::f32, .tolerance = f32},
    {.name = "k=20000 f32",
     .sizes = {{"...", 2}, {"k", 20000}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = all},
    {.name = "k=9001 f64 around 1000",
     .sizes = {{"...", 2}, {"k", 9001}},
     .tolerance = 1000 * f64,
     .setup = [](A& a) { std::for_each_n(a.x.as<double>(), a.x.size(), [](double& v) { v += 1000; }); }},
    {.name = "fused_layernorm_gelu k=300 f32",
     .sizes = {{"...", 4}, {"k", 300}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "scale shift",
     .alias = "fused_layernorm_gelu"},
    {.name = "4096 rows of 4096 f32",
     .sizes = {{"...", 4096}, {"k", 4096}},
     .dtype = DType::f32,
     .optional = "scale shift",
     .benchmark_only = true},
    {.name = "4096 rows of 4096 f16",
     .sizes = {{"...", 4096}, {"k", 4096}},
     .dtype = DType::f16,
     .optional = "scale shift",
     .benchmark_only = true},
    {.name = "2^16 rows of 256 f32",
     .sizes = {{"...", 1 << 16}, {"k", 256}},
     .dtype = DType::f32,
     .optional = "scale shift",
     .benchmark_only = true},
    {.name = "fused_layernorm_gelu 4096 rows of 4096 f32",
     .sizes = {{"...", 4096}, {"k", 4096}},
     .dtype = DType::f32,
     .optional = "scale shift",
     .benchmark_only = true,
     .alias = "fused_layernorm_gelu"},
};
constexpr AliasInfo aliases[] = {{.name = "fused_layernorm_gelu",
                                  .summary = "layer_norm and gelu in one pass over memory",
                                  .binds = {bind<&A::activation, Activation::gelu>}}};

double flops(const A& a) {
  constexpr double of_activation[] = {0, 1, 23, 28};  // 20 for an error function or a hyperbolic tangent
  return double(a.x.size()) * (6 + a.scale.given() + a.shift.given() + of_activation[int(a.activation)]);
}

constinit const Definition<LayerNormArgs> definition{
    {.name = "layer_norm",
     .summary = "y = activation((x - mean) / sqrt(variance + eps) scale + shift) along the last axis",
     .source = "Ba, Kiros & Hinton, arXiv:1607.06450",
     .determinism = Determinism::run_to_run,
     .in_place = true},
    {.check = check, .flops = flops, .cases = cases, .aliases = aliases}};

}  // namespace

constinit const Op<LayerNormArgs> layer_norm{definition};
constinit const Alias<LayerNormArgs> fused_layernorm_gelu{definition, aliases[0]};
extern constinit const Impl<LayerNormArgs> layer_norm_cpu = cpu::row_op<LayerNormArgs, LayerNormVectors>();

}  // namespace kolmo
