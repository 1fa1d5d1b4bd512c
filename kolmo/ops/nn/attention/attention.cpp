#include "kolmo/ops/nn/attention/attention.hpp"

#include <string>

#include "kolmo/base/number_text.hpp"
#include "kolmo/op/define.hpp"
#include "kolmo/ops/nn/attention/attention_cpu.hpp"
#include "kolmo/ops/nn/attention/unfused.hpp"
#include "kolmo/skeleton/item_steps_cpu.hpp"

namespace kolmo {
namespace {
using A = AttentionArgs;

void check(const A& a) {
  const auto refuse = [](const std::string& why) { fail<InvalidArgument>("attention: " + why); };
  const AttentionSizes n(a);
  const auto number = [](std::int64_t i) { return std::to_string(i); };
  if (n.d > 256) refuse("q is " + shape_string(a.q) + ": heads of more than 256 elements are not supported");
  if (n.kv_heads ? n.heads % n.kv_heads : n.heads)
    refuse("k has " + number(n.kv_heads) + " heads, which do not divide the " + number(n.heads) + " of q");
  if (a.mask.given() && (a.mask.dim(-1) != n.t || (a.mask.dim(-2) != 1 && a.mask.dim(-2) != n.s)))
    refuse("mask is " + shape_string(a.mask) + ", expected 1 or " + number(n.s) + " rows of " + number(n.t));
  if (a.scale && !(*a.scale > 0)) refuse("scale is " + number_text(*a.scale) + ", which is not positive");
}

// Scores of normal numbers: the terms of a sum are scaled to at most 4 in all, so each of its d <= 256
// roundings errs by 4 units of the type. The errors add up like a random walk (Higham & Mary 2019), to at
// most 4 * 4 * 16, which is also the relative error of a weight. A weighted mean of values below 5, and the
// sum of weights, take 5 * 2 times that; their own sums of t < 400 terms add 5 * 4 * 20. 16-bit weights and
// results are rounded once more, by half a unit of values below 5 each.
constexpr double units = 10 * 256 + 400, f64 = units * 0x1p-53, f32 = units * 0x1p-24;
constexpr double f16 = 10 * 0x1p-11, bf16 = 10 * 0x1p-8;

void upper_left(A& a) { a.causal = Causal::upper_left; }
void lower_right(A& a) { a.causal = Causal::lower_right; }
void heads_last(A& a) { a.layout = HeadLayout::heads_last; }

constexpr Case<A> problem(std::string_view name, std::int64_t batch, std::int64_t heads, std::int64_t groups,
                          std::int64_t s, std::int64_t t, std::int64_t d, DType dtype, double tolerance,
                          void (*setup)(A&) = nullptr) {
  return {.name = name,
          .sizes = {{"...", batch}, {"q0", heads}, {"q1", s}, {"k0", groups}, {"k1", t}, {"d", d}},
          .dtype = dtype,
          .tolerance = absolute(tolerance),
          .setup = setup};
}
constexpr Case<A> masked(Case<A> c, std::int64_t rows, std::int64_t keys) {
  c.sizes.items[c.sizes.count++] = {"m0", rows}, c.sizes.items[c.sizes.count++] = {"m1", keys};
  c.optional = "mask", c.dtypes = {{"M", rows > 1 ? DType::u8 : DType::boolean}};
  return c;
}
constexpr Case<A> turned(Case<A> c) {
  std::swap(c.sizes.items[1].size, c.sizes.items[2].size);
  std::swap(c.sizes.items[3].size, c.sizes.items[4].size);
  return c;
}
constexpr Case<A> benchmark(std::string_view name, std::int64_t batch, std::int64_t heads,
                            std::int64_t groups, std::int64_t s, std::int64_t t, std::int64_t d, DType dtype,
                            void (*setup)(A&) = nullptr) {
  Case<A> c = problem(name, batch, heads, groups, s, t, d, dtype, 0, setup);
  c.benchmark_only = true;
  return c;
}

constexpr auto cases = [] {
  auto all = std::to_array<Case<A>>({
      problem("one query, one key", 1, 1, 1, 1, 1, 1, DType::f64, f64),
      masked(problem("17 of 2 heads, 33 x 17, d 5, f64, padding", 17, 2, 2, 33, 17, 5, DType::f64, f64), 1,
             17),
      problem("4 heads in 2 groups, 20 x 36, d 66, f64, causal to the right", 1, 4, 2, 20, 36, 66, DType::f64,
              f64, lower_right),
      problem("65 x 130, d 16, f32", 1, 2, 2, 65, 130, 16, DType::f32, f32),
      turned(problem("heads last, 17 of 6 heads in 2 groups, 11 x 40, d 72, f32, causal", 17, 6, 2, 11, 40,
                     72, DType::f32, f32, [](A& a) { heads_last(a), upper_left(a), a.scale = 0.125; })),
      masked(problem("9 x 35, d 130, f32, any mask, causal to the right", 2, 1, 1, 9, 35, 130, DType::f32,
                     f32, lower_right),
             9, 35),
      problem("9 of 2 heads, 150 x 40, d 20, f32, causal", 9, 2, 2, 150, 40, 20, DType::f32, f32, upper_left),
      problem("20 x 36, d 66, f32", 1, 1, 1, 20, 36, 66, DType::f32, f32),
      problem("keys in parts: 3 x 513, d 8, f32", 1, 1, 1, 3, 513, 8, DType::f32, 2 * f32),
      problem("keys in 64 parts: 2 x 4100, d 33, f32", 1, 1, 1, 2, 4100, 33, DType::f32, 2 * f32),
      problem("65 x 70, d 40, f16, causal", 1, 1, 1, 65, 70, 40, DType::f16, f16, upper_left),
      masked(turned(problem("heads last, 8 heads in 1 group, 5 x 33, d 96, f16, padding", 2, 8, 1, 5, 33, 96,
                            DType::f16, f16, heads_last)),
             1, 33),
      problem("3 heads, 17 x 31, d 9, bf16", 1, 3, 3, 17, 31, 9, DType::bf16, bf16),
      problem("16 x 33, d 256, bf16, causal to the right", 1, 1, 1, 16, 33, 256, DType::bf16, bf16,
              lower_right),
      problem("keys in parts: 2 x 520, d 8, f16", 1, 1, 1, 2, 520, 8, DType::f16, f16),
      problem("few rows, keys in parts: 4 heads in 1 group, 2 x 530, d 100, bf16", 1, 4, 1, 2, 530, 100,
              DType::bf16, bf16, lower_right),
      masked(
          problem("few rows, keys in parts: 2 of 8 heads in 2 groups, 2 x 530, d 104, f16, causal, padding",
                  2, 8, 2, 2, 530, 104, DType::f16, f16, lower_right),
          1, 530),
      turned(problem("few rows, heads last, 4 heads in 2 groups, 8 x 70, d 64, bf16, causal", 1, 4, 2, 8, 70,
                     64, DType::bf16, bf16, [](A& a) { heads_last(a), lower_right(a); })),
      problem("4 heads in 2 groups, 20 x 150, d 64, f16", 1, 4, 2, 20, 150, 64, DType::f16, f16),
      turned(problem("heads last, 2 heads, 131 x 9, d 128, bf16, causal", 1, 2, 2, 131, 9, 128, DType::bf16,
                     bf16, [](A& a) { heads_last(a), upper_left(a); })),
      problem("fused_attention_softmax, 12 x 20, d 8, f32", 1, 2, 1, 12, 20, 8, DType::f32, f32),
      benchmark("B4 H16 S4096 D128 f16", 4, 16, 16, 4096, 4096, 128, DType::f16),
      benchmark("B4 H16 S4096 D128 f16, causal", 4, 16, 16, 4096, 4096, 128, DType::f16, upper_left),
      benchmark("B4 H16 S4096 D64 f16", 4, 16, 16, 4096, 4096, 64, DType::f16),
      benchmark("B4 H16 S4096 D64 f16, causal", 4, 16, 16, 4096, 4096, 64, DType::f16, upper_left),
      benchmark("B1 H16 S16384 D128 bf16", 1, 16, 16, 16384, 16384, 128, DType::bf16),
      benchmark("B1 H16 S16384 D128 bf16, causal", 1, 16, 16, 16384, 16384, 128, DType::bf16, upper_left),
      benchmark("B4 H16 S1024 D64 f32", 4, 16, 16, 1024, 1024, 64, DType::f32),
      benchmark("one query, 65536 keys, 32 heads in 8 groups, D128 f16", 1, 32, 8, 1, 65536, 128, DType::f16),
      benchmark("fused_attention_softmax B2 H8 S2048 D64 f16", 2, 8, 8, 2048, 2048, 64, DType::f16),
      benchmark("fused_attention_softmax B1 H8 S1024 D64 f32", 1, 8, 8, 1024, 1024, 64, DType::f32),
  });
  for (auto& c : all)
    if (c.name.starts_with("fused_attention_softmax")) c.alias = "fused_attention_softmax";
  return all;
}();

constexpr AliasInfo aliases[] = {
    {.name = "fused_attention_softmax",
     .summary = "softmax(scale q k^T) v in one pass over the keys, without a matrix of scores"}};

using Engine = void (*)(const A&, Arena, Stream&);
constexpr Row<Engine> engines[] = {
    {.name = "blocked", .config = attend_blocked},
    {.name = "unfused",
     .config = [](const A& a, Arena arena, Stream& s) { attend_unfused(a, arena, s, cpu::ItemSteps{s}); },
     .naive = true}};
constexpr int blocked = 0;

constinit const Definition<AttentionArgs> definition{
    {.name = "attention",
     .summary = "y = softmax(scale q k^T) v over the keys that each query sees, never holding all scores",
     .source = "Vaswani et al. 2017; Dao et al. 2022",
     .determinism = Determinism::run_to_run,
     .matrix_products = true,
     .in_place = true},
    // Each pair of a query and a key takes the operations of both products.
    {.check = check,
     .flops =
         [](const A& a) {
           const AttentionSizes n(a);
           return 4.0 * double(n.batch) * double(n.heads) * AttentionMask(a).pairs() * double(n.d);
         },
     .cases = cases,
     .aliases = aliases}};

}  // namespace

constinit const Op<AttentionArgs> attention{definition};
constinit const Alias<AttentionArgs> fused_attention_softmax{definition, aliases[0]};
extern constinit const Impl<AttentionArgs> attention_cpu{
    {.rows = engines,
     .launch = [](const A& a, Arena arena, Stream& s, int row) { engines[row].config(a, arena, s); },
     .lay =
         [](Arena& arena, const A& a, const Site& site) {
           if (site.row == blocked)
             lay_blocked_attention(arena, a, site.threads);
           else
             UnfusedAttention(arena, a).lay(arena, site);
         },
     .fits = [](const A& a,
                int row) { return row == blocked ? blocked_attention_fits(a) : UnfusedAttention::fits(a); }}};

}  // namespace kolmo
