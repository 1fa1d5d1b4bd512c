#include "kolmo/ops/nn/layer_norm/layer_norm.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/ops/nn/layer_norm/layer_norm_cpu.hpp"
#include "kolmo/runtime/cpu/convert.hpp"
#include "kolmo/runtime/cpu/row_parts.hpp"

namespace kolmo {
namespace {
using A = LayerNormArgs;

void check(const A& a) {
  require(a.x.extent[std::size_t(a.x.rank - 1)] > 0, "layer_norm: x must have at least one column");
}

std::int64_t row_length(const A& a) { return a.x.extent[std::size_t(a.x.rank - 1)]; }

std::size_t workspace(const A& a, int) {
  return row_parts_bytes<RowMoments>(a.x.size() / row_length(a), row_length(a));
}

/// Chan, Golub & LeVeque 1979.
RowMoments join(const RowMoments& a, const RowMoments& b) {
  const double n = a.n + b.n, difference = b.mean - a.mean;
  return {n, a.mean + difference * b.n / n, a.squares + b.squares + difference * difference * a.n * b.n / n};
}

/// `n` elements of a row as what arithmetic is done in: themselves, or a copy in `wide`; null if there are
/// none.
template <class T>
const Compute<T>* widened(const T* from, std::int64_t n, Compute<T>* wide) {
  if constexpr (std::is_same_v<T, Compute<T>>) return from;
  if (!from) return nullptr;
  widen(from, n, wide);
  return wide;
}

template <class T>
void layer_norm_of(const A& a, void* workspace, int threads) {
  using C = Compute<T>;
  const std::int64_t k = row_length(a);
  const auto part_of = [](const Tensor& t, std::int64_t at) { return t.given() ? t.as<T>() + at : nullptr; };
  for_row_parts<RowMoments>(
      threads, a.x.size() / k, k, workspace,
      [&](std::int64_t row, std::int64_t begin, std::int64_t n) {
        C x[row_part];
        return row_moments(widened<T>(part_of(a.x, row * k + begin), n, x), n);
      },
      join,
      [&](std::int64_t row, std::int64_t begin, std::int64_t n, const RowMoments&, const RowMoments& whole) {
        const double rstd = 1 / std::sqrt(whole.squares / double(k) + a.eps);
        C x[row_part], scale[row_part], shift[row_part];
        const Normalisation<C> f{whole.mean, rstd, widened<T>(part_of(a.scale, begin), n, scale),
                                 widened<T>(part_of(a.shift, begin), n, shift), a.activation};
        T* const y = a.y.as<T>() + row * k + begin;
        const C* const from = widened<T>(part_of(a.x, row * k + begin), n, x);
        if constexpr (std::is_same_v<T, C>) {
          normalise(f, from, n, y);
        } else {
          normalise(f, from, n, x);
          narrow(x, n, y);
        }
        if (begin == 0 && a.mean.given()) a.mean.as<double>()[row] = whole.mean;
        if (begin == 0 && a.rstd.given()) a.rstd.as<double>()[row] = rstd;
      });
}

void cpu(const A& a, void* workspace, Stream& s) {
  visit<double, float, Half, BFloat16>(a.x.dtype,
                                       [&]<class T> { layer_norm_of<T>(a, workspace, s.threads()); });
}

// x is normal, so |y| < 6 before the scale, which is below 32. The mean is a sum in a tree of at most 32 + 16
// levels (CPU: 35 within 256 terms, 15 of these, 4 parts): 54 roundings of mean |x| < 1; the variance as
// many, halved by the square root; scale, shift and activation a few more: below 128 roundings, relative to y
// where |y| > 1. A 16-bit dtype adds its half ulp. With the mean 1000, x itself is a thousand roundings wide,
// and the mean as many as 54 thousand.
constexpr double f64 = 128 * 0x1p-53, f32 = 128 * 0x1p-24;
constexpr auto all = "scale shift mean rstd";
constexpr Case<A> cases[] = {
    {.name = "k=1", .sizes = {{"...", 3}, {"k", 1}}, .tolerance = f64},
    {.name = "k=7 f64", .sizes = {{"...", 20}, {"k", 7}}, .tolerance = f64, .optional = all},
    {.name = "k=128 f32 scale",
     .sizes = {{"...", 9}, {"k", 128}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "scale"},
    {.name = "k=1000 f16 shift, relu",
     .sizes = {{"...", 3}, {"k", 1000}},
     .dtype = DType::f16,
     .tolerance = 0x1p-11 + f32,
     .optional = "shift rstd",
     .setup = [](A& a) { a.activation = Activation::relu; }},
    {.name = "k=33 bf16",
     .sizes = {{"...", 5}, {"k", 33}},
     .dtype = DType::bf16,
     .tolerance = 0x1p-8 + f32,
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
constexpr Alias<A> aliases[] = {{.name = "fused_layernorm_gelu",
                                 .summary = "layer_norm and gelu in one pass over memory",
                                 .preset = [](A& a) { a.activation = Activation::gelu; }}};

double flops(const A& a) {
  constexpr double of_activation[] = {0, 1, 23, 28};  // an error function, a hyperbolic tangent: 20
  return double(a.x.size()) * (6 + a.scale.given() + a.shift.given() + of_activation[int(a.activation)]);
}

}  // namespace

constinit const Op<A> layer_norm{
    {.name = "layer_norm",
     .summary = "y = activation((x - mean) / sqrt(variance + eps) scale + shift) along the last axis",
     .source = "Ba, Kiros & Hinton, arXiv:1607.06450",
     .determinism = Determinism::run_to_run,
     .in_place = true},
    {.check = check,
     .flops = flops,
     .cpu_workspace = workspace,
     .cpu = cpu,
     .cases = cases,
     .aliases = aliases}};

}  // namespace kolmo
