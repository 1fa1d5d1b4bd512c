#include "kolmo/ops/nn/softmax/softmax.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/nn/softmax/softmax_rows.hpp"
#include "kolmo/skeleton/row_op_cpu.hpp"

namespace kolmo {
namespace {
using A = SoftmaxArgs;

template <class T>
struct SoftmaxVectors {
  using C = Compute<T>;
  using Part = Exponentials<double>;
  static constexpr bool held = true;
  SoftmaxFunctions<C> functions = softmax_functions<C>();

  explicit SoftmaxVectors(const A&) {}
  Part part(const C* x, std::int64_t n, C* e) const { return functions.exponentials(x, n, e); }
  void write(const C* e, std::int64_t n, C* y, RowPlace, const Part& part, const Part& whole) const {
    functions.scale(e, n, C(part.weight(whole.largest) / whole.sum), y);
  }
};

// The relative error of y is that of two exponentials (2 ulp each, and half an ulp of the difference |x -
// max| < 16), of a tree sum of k < 2^16 terms in at most 32 + 16 levels (CPU: 35 within 256 terms, then, in
// double, 15 over these and 4 parts), and of the quotient: below 80 roundings in all. Where |x - max| < 64, half an
// ulp of the differences, which add up to that of x, takes 32 + 16 instead of 8 + 8: below 112. A 16-bit dtype adds
// its own half ulp, which is that of the smallest normal number for all numbers below.
constexpr double f64 = 80 * 0x1p-53, f32 = 80 * 0x1p-24, spread = 112 * 0x1p-24;
constexpr Tolerance rounded(double error, double half_ulp, double smallest_normal) {
  const double relative = half_ulp + (1 + half_ulp) * error;
  return {relative * smallest_normal, relative};
}
constexpr Tolerance f16 = rounded(f32, 0x1p-11, 0x1p-14), bf16 = rounded(f32, 0x1p-8, 0x1p-126);
template <class T>
void spread_over_40(A& a, CaseRandom& random) {
  for (std::int64_t i = 0; i < a.x.size(); ++i) a.x.as<T>()[i] = T(float(40 * random.uniform()));
}

constexpr Case<A> cases[] = {
    {.name = "k=1", .sizes = {{"...", 3}, {"k", 1}}, .tolerance = relative(f64)},
    {.name = "k=5 f64", .sizes = {{"...", 40}, {"k", 5}}, .tolerance = relative(f64)},
    {.name = "k=128 f32", .sizes = {{"...", 9}, {"k", 128}}, .dtype = DType::f32, .tolerance = relative(f32)},
    {.name = "k=1000 f16", .sizes = {{"...", 3}, {"k", 1000}}, .dtype = DType::f16, .tolerance = f16},
    {.name = "k=33 bf16", .sizes = {{"...", 5}, {"k", 33}}, .dtype = DType::bf16, .tolerance = bf16},
    {.name = "k=96 bf16", .sizes = {{"...", 5}, {"k", 96}}, .dtype = DType::bf16, .tolerance = bf16},
    {.name = "k=5000 f32",
     .sizes = {{"...", 2}, {"k", 5000}},
     .dtype = DType::f32,
     .tolerance = relative(f32)},
    {.name = "k=20000 f32",
     .sizes = {{"...", 2}, {"k", 20000}},
     .dtype = DType::f32,
     .tolerance = relative(f32)},
    {.name = "k=9001 f64", .sizes = {{"...", 2}, {"k", 9001}}, .tolerance = relative(f64)},
    {.name = "k=300 f32, spread over 40",
     .sizes = {{"...", 3}, {"k", 300}},
     .dtype = DType::f32,
     .tolerance = relative(spread),
     .draw = spread_over_40<float>},
    {.name = "k=9000 f32, spread over 40",
     .sizes = {{"...", 2}, {"k", 9000}},
     .dtype = DType::f32,
     .tolerance = relative(spread),
     .draw = spread_over_40<float>},
    {.name = "k=300 f16, spread over 40",
     .sizes = {{"...", 3}, {"k", 300}},
     .dtype = DType::f16,
     .tolerance = rounded(spread, 0x1p-11, 0x1p-14),
     .draw = spread_over_40<Half>},
    {.name = "k=300 bf16, spread over 40",
     .sizes = {{"...", 3}, {"k", 300}},
     .dtype = DType::bf16,
     .tolerance = rounded(spread, 0x1p-8, 0x1p-126),
     .draw = spread_over_40<BFloat16>},
    {.name = "fused_exp_normalize k=100 f32",
     .sizes = {{"...", 7}, {"k", 100}},
     .dtype = DType::f32,
     .tolerance = relative(f32),
     .alias = "fused_exp_normalize"},
    {.name = "4096 rows of 4096 f32",
     .sizes = {{"...", 4096}, {"k", 4096}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "4096 rows of 4096 f16",
     .sizes = {{"...", 4096}, {"k", 4096}},
     .dtype = DType::f16,
     .benchmark_only = true},
    {.name = "2^17 rows of 128 f32",
     .sizes = {{"...", 1 << 17}, {"k", 128}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "one row of 2^24 f32",
     .sizes = {{"...", 1}, {"k", 1 << 24}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "fused_exp_normalize 4096 rows of 4096 f32",
     .sizes = {{"...", 4096}, {"k", 4096}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .alias = "fused_exp_normalize"},
};
constexpr AliasInfo aliases[] = {
    {.name = "fused_exp_normalize", .summary = "exp, divided by its sum, in one pass over memory"}};

constinit const Definition<SoftmaxArgs> definition{
    {.name = "softmax",
     .summary = "y_i = exp(x_i - max x) / sum_j exp(x_j - max x) along the last axis",
     .source = "Bridle 1989",
     .determinism = Determinism::run_to_run,
     .in_place = true},
    // Each element takes a comparison, a difference, an exponential (20 operations), a sum and a quotient.
    {.flops = [](const A& a) { return 24.0 * double(a.x.size()); }, .cases = cases, .aliases = aliases}};

}  // namespace

constinit const Op<SoftmaxArgs> softmax{definition};
constinit const Alias<SoftmaxArgs> fused_exp_normalize{definition, aliases[0]};
extern constinit const Impl<SoftmaxArgs> softmax_cpu = cpu::row_op<SoftmaxArgs, SoftmaxVectors>();

}  // namespace kolmo
