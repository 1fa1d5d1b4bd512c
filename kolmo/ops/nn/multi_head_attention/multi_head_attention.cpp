#include "kolmo/ops/nn/multi_head_attention/multi_head_attention.hpp"

#include <string>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/nn/multi_head_attention/projections.hpp"

namespace kolmo {
namespace {
using A = MultiHeadAttentionArgs;

void check(const A& a) {
  const auto refuse = [](const std::string& why) { fail<InvalidArgument>("multi_head_attention: " + why); };
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  const std::int64_t e = a.query.dim(-1), s = a.query.dim(-2), t = a.key.dim(-2);
  if (a.in_proj_weight.dim(0) != 3 * e)
    refuse("in_proj_weight has " + number(a.in_proj_weight.dim(0)) + " rows, but sequences of " + number(e) +
           " elements need " + number(3 * e));
  if (e % a.heads) refuse(number(a.heads) + " heads do not divide the " + number(e) + " elements of query");
  if (e / a.heads > 256)
    refuse("heads of more than 256 elements are not supported, " + number(e) + " / " + number(a.heads) +
           " are");
  if (a.mask.given() && (a.mask.dim(-1) != t || (a.mask.dim(-2) != 1 && a.mask.dim(-2) != s)))
    refuse("mask is " + shape_string(a.mask) + ", expected 1 or " + number(s) + " rows of " + number(t));
}

double flops(const A& a) {
  Arena nowhere;
  const MultiHeadSteps steps(nowhere, a);
  double sum = attention->flops(&steps.heads) + linear->flops(&steps.out);
  for (const LinearArgs& l : steps.in) sum += linear->flops(&l);
  return sum;
}

template <class T>
void divide(const Tensor& t, float by) {
  for (std::int64_t i = 0; i < t.size(); ++i) t.as<T>()[i] = T(Compute<T>(t.as<T>()[i]) / by);
}
/// Scales the weights to about 1 / sqrt e, so that scores stay near 1.
void tame(A& a) {
  visit<double, float, Half, BFloat16>(
      a.query.dtype, [&]<class T> { divide<T>(a.in_proj_weight, 4), divide<T>(a.out_proj_weight, 4); });
}

// With weights of deviation 1/4 and e = 16 to 24, the elements of Q, K, V and of the scores are near 1. Each
// of them is rounded, with random sign, by half a unit in the last place. Scores err by at most 5 half units
// (4 deviations of sqrt(d) terms over sqrt(d)), and means by 8. Sums of e of these times 1/4 err by 6
// deviations, which, with the rounding of y itself, below 4, is at most 24. In f64 and f32 a rounding is
// replaced by the roundings of sums of up to 36 products: 256 units.
constexpr double f64 = 256 * 0x1p-53, f32 = 256 * 0x1p-24, f16 = 24 * 0x1p-11, bf16 = 24 * 0x1p-8;

constexpr Case<A> cases[] = {
    {.name = "one of everything",
     .sizes = {{"...", 1}, {"s", 1}, {"t", 1}, {"e", 1}, {"f", 3}},
     .tolerance = f64,
     .setup = tame},
    {.name = "2 of 3 x 7, 4 heads of 5, f64, padding",
     .sizes = {{"...", 2}, {"s", 3}, {"t", 7}, {"e", 20}, {"f", 60}, {"m0", 1}, {"m1", 7}, {"heads", 4}},
     .tolerance = f64,
     .optional = "in_proj_bias out_proj_bias mask",
     .setup = tame,
     .dtypes = {{"M", DType::boolean}}},
    {.name = "2 of 9 x 9, 2 heads of 12, f32, causal",
     .sizes = {{"...", 2}, {"s", 9}, {"t", 9}, {"e", 24}, {"f", 72}, {"heads", 2}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "out_proj_bias",
     .setup = [](A& a) { tame(a), a.causal = Causal::upper_left; }},
    {.name = "5 x 12, 2 heads of 8, f16, causal to the right",
     .sizes = {{"...", 1}, {"s", 5}, {"t", 12}, {"e", 16}, {"f", 48}, {"heads", 2}},
     .dtype = DType::f16,
     .tolerance = f16,
     .optional = "in_proj_bias",
     .setup = [](A& a) { tame(a), a.causal = Causal::lower_right; }},
    {.name = "4 x 6, 1 head of 16, bf16, any mask",
     .sizes = {{"...", 1}, {"s", 4}, {"t", 6}, {"e", 16}, {"f", 48}, {"m0", 4}, {"m1", 6}},
     .dtype = DType::bf16,
     .tolerance = bf16,
     .optional = "in_proj_bias mask",
     .setup = tame},
    {.name = "8 of 1024, 16 heads of 64, f16",
     .sizes = {{"...", 8}, {"s", 1024}, {"t", 1024}, {"e", 1024}, {"f", 3072}, {"heads", 16}},
     .dtype = DType::f16,
     .optional = "in_proj_bias out_proj_bias",
     .benchmark_only = true},
    {.name = "2 of 512, 8 heads of 64, f32, causal",
     .sizes = {{"...", 2}, {"s", 512}, {"t", 512}, {"e", 512}, {"f", 1536}, {"heads", 8}},
     .dtype = DType::f32,
     .optional = "in_proj_bias out_proj_bias",
     .benchmark_only = true,
     .setup = [](A& a) { a.causal = Causal::upper_left; }},
};

constinit const Definition<MultiHeadAttentionArgs> definition{
    {.name = "multi_head_attention",
     .summary = "y = [attention of each head of Q, K, V] W_o' + b_o, with Q, K, V projected by in_proj",
     .source = "Vaswani et al. 2017",
     .determinism = Determinism::run_to_run,
     .matrix_products = true},
    {.check = check, .flops = flops, .cases = cases}};

}  // namespace

constinit const Op<MultiHeadAttentionArgs> multi_head_attention{definition};
extern constinit const Impl<MultiHeadAttentionArgs> multi_head_attention_cpu{multi_head_code};

}  // namespace kolmo
