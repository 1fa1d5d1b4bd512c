#include "kolmo/ops/training/weights_gram/weights_gram.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/training/weights_gram/gram_tiles.hpp"
#include "kolmo/runtime/cpu/sum_items.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = WeightsGramArgs;

double flops(const A& a) {
  const double m = double(a.weights.dim(-2));
  return (m + 1 + (a.base.given() ? 1 : 0)) * double(a.weights.size());
}

// The sum of the magnitudes of n products of normal numbers is near 2 n / pi, and 2 n with a base; 28 roundings
// of 2^-53 allow n 2^-48.
constexpr double bound(double n) { return n * 0x1p-47; }
constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"...", 1}, {"m", 1}, {"n", 1}}, .tolerance = bound(1)},
    {.name = "4 of 33", .sizes = {{"...", 3}, {"m", 4}, {"n", 33}}, .tolerance = bound(33)},
    {.name = "9 of 100, from a base",
     .sizes = {{"...", 2}, {"m", 9}, {"n", 100}},
     .tolerance = bound(100),
     .optional = "base"},
    {.name = "6 of 5000", .sizes = {{"...", 1}, {"m", 6}, {"n", 5000}}, .tolerance = bound(5000)},
    {.name = "13 of 2049 f32, from a base",
     .sizes = {{"...", 1}, {"m", 13}, {"n", 2049}},
     .dtype = DType::f32,
     .tolerance = bound(2049),
     .optional = "base"},
    {.name = "3 of 6001 f16",
     .sizes = {{"...", 2}, {"m", 3}, {"n", 6001}},
     .dtype = DType::f16,
     .tolerance = bound(6001),
     .optional = "base"},
    {.name = "5 of 300 bf16",
     .sizes = {{"...", 1}, {"m", 5}, {"n", 300}},
     .dtype = DType::bf16,
     .tolerance = bound(300)},
    {.name = "1030 times 3 of 70", .sizes = {{"...", 1030}, {"m", 3}, {"n", 70}}, .tolerance = bound(70)},
    {.name = "172 times 8 of 2060 f32, from a base",
     .sizes = {{"...", 172}, {"m", 8}, {"n", 2060}},
     .dtype = DType::f32,
     .tolerance = bound(2060),
     .optional = "base"},
    {.name = "1030 times 2 of 513 f16",
     .sizes = {{"...", 1030}, {"m", 2}, {"n", 513}},
     .dtype = DType::f16,
     .tolerance = bound(513)},
    {.name = "344 times 5 of 300 bf16",
     .sizes = {{"...", 344}, {"m", 5}, {"n", 300}},
     .dtype = DType::bf16,
     .tolerance = bound(300)},
    {.name = "8 of 2^24 f32",
     .sizes = {{"...", 1}, {"m", 8}, {"n", 1 << 24}},
     .dtype = DType::f32,
     .optional = "base",
     .benchmark_only = true},
};

constinit const Definition<A> definition{
    {.name = "weights_gram",
     .summary = "gram_ij = sum_t (w_it - b_t) (w_jt - b_t) of m flat vectors, in double",
     .source = "Higham 1993, pairwise summation",
     .determinism = Determinism::everywhere},
    {.flops = flops, .cases = cases}};

}  // namespace

constinit const Op<A> weights_gram{definition};
extern constinit const Impl<A> weights_gram_cpu{
    {.launch = [](const A& a, Arena arena, Stream& s, int) { gram_sums(a, arena, SumItems{s.threads()}); },
     .lay = [](Arena& arena, const A& a, const Site&) { gram_scratch(arena, a); }}};

}  // namespace kolmo
