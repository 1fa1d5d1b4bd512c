#include "kolmo/ops/training/adamw_step/adamw_step.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = AdamwStepArgs;

void check(const A& a) { require(a.beta1 < 1 && a.beta2 < 1, "adamw_step: beta1 and beta2 must be below 1"); }

// Relative errors in units u of the dtype: v is a sum of positive terms with 4 roundings, its root has 4, the
// quotient by the root and the sum with epsilon 7. m is a sum of two numbers that may cancel; its error is
// 4 u (|m| + |g|). The step therefore errs by 13 u rate (|m| + |g|) / (sqrt v + epsilon), with gradients below
// 6 and v above 1e-3 g^2 / 2 at a rate of 0.1 by less than 200 u. Parameters below 6 add 2 u each.
constexpr double f64 = 256 * 0x1p-53, f32 = 256 * 0x1p-24;
constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"...", 1}}, .tolerance = f64},
    {.name = "n=1000, step 7",
     .sizes = {{"...", 1000}},
     .tolerance = f64,
     .setup =
         [](A& a) {
           a.rate = 0.1, a.beta1 = 0.8, a.beta2 = 0.95, a.epsilon = 1e-3, a.weight_decay = 0.3, a.step = 7;
         }},
    {.name = "n=1025 f32", .sizes = {{"...", 1025}}, .dtype = DType::f32, .tolerance = f32},
    {.name = "n=2^26 f32", .sizes = {{"...", 1 << 26}}, .dtype = DType::f32, .benchmark_only = true},
};

constinit const Definition<A> definition{
    {.name = "adamw_step",
     .summary = "w <- w (1 - rate decay) - rate m' / (sqrt v' + epsilon), with averages m, v of g and g^2",
     .source = "Loshchilov & Hutter 2019; torch.optim.AdamW",
     .determinism = Determinism::everywhere},
    {.check = check, .flops = [](const A& a) { return 14.0 * double(a.parameters.size()); }, .cases = cases}};

}  // namespace

constinit const Op<A> adamw_step{definition};
extern constinit const Impl<A> adamw_step_cpu{{.launch = [](const A& a, Arena, Stream& s, int) {
  visit<double, float>(a.parameters.dtype, [&]<class T> {
    const AdamwParameter<T> update(a);
    parallel_ranges(s.threads(), update.items(), [&](std::int64_t first, std::int64_t end) {
      in_vectors(end - first, [=](std::int64_t i) { update(first + i); });
    });
  });
}}};

}  // namespace kolmo
