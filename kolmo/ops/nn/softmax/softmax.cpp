#include "kolmo/ops/nn/softmax/softmax.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo {
namespace {
using A = SoftmaxArgs;

template <class T>
void row(const T* x, T* y, std::int64_t k) {
  using C = Compute<T>;
  C largest = C(x[0]);
  for (std::int64_t i = 1; i < k; ++i) largest = std::max(largest, C(x[i]));
  double sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum += double(std::exp(C(x[i]) - largest));
  for (std::int64_t i = 0; i < k; ++i) y[i] = T(C(double(std::exp(C(x[i]) - largest)) / sum));
}

void cpu(const A& a, void*, Stream& s) {
  const std::int64_t k = a.x.extent[std::size_t(a.x.rank - 1)], rows = a.x.size() / k;
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 14) / k);
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    parallel_for(s.threads(), (rows + grain - 1) / grain, [&](std::int64_t part, int) {
      for (std::int64_t r = part * grain; r < std::min(rows, (part + 1) * grain); ++r)
        row(a.x.as<T>() + r * k, a.y.as<T>() + r * k, k);
    });
  });
}

// The relative error of y is that of two exponentials (2 ulp each, and half an ulp of the difference
// |x - max| < 16), of a sum of k < 2^16 terms in a tree of at most 32 + 16 levels, and of the quotient: below
// 80 roundings, to which a 16-bit dtype adds its own half ulp. y <= 1, and below 1/32 in rows of 1000.
constexpr double f64 = 80 * 0x1p-53, f32 = 80 * 0x1p-24;
constexpr Case<A> cases[] = {
    {.name = "k=1", .sizes = {{"...", 3}, {"k", 1}}, .tolerance = f64},
    {.name = "k=5 f64", .sizes = {{"...", 40}, {"k", 5}}, .tolerance = f64},
    {.name = "k=128 f32", .sizes = {{"...", 9}, {"k", 128}}, .dtype = DType::f32, .tolerance = f32},
    {.name = "k=1000 f16", .sizes = {{"...", 3}, {"k", 1000}}, .dtype = DType::f16, .tolerance = 0x1p-16},
    {.name = "k=33 bf16", .sizes = {{"...", 5}, {"k", 33}}, .dtype = DType::bf16, .tolerance = 0x1p-8},
    {.name = "k=5000 f32", .sizes = {{"...", 2}, {"k", 5000}}, .dtype = DType::f32, .tolerance = f32 / 32},
    {.name = "k=20000 f32", .sizes = {{"...", 2}, {"k", 20000}}, .dtype = DType::f32, .tolerance = f32 / 32},
    {.name = "k=9001 f64", .sizes = {{"...", 2}, {"k", 9001}}, .tolerance = f64 / 32},
    {.name = "fused_exp_normalize k=100 f32",
     .sizes = {{"...", 7}, {"k", 100}},
     .dtype = DType::f32,
     .tolerance = f32,
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
constexpr Alias<A> aliases[] = {
    {.name = "fused_exp_normalize", .summary = "exp, divided by its sum, in one pass over memory"}};

}  // namespace

constinit const Op<A> softmax{
    {.name = "softmax",
     .summary = "y_i = exp(x_i - max x) / sum_j exp(x_j - max x) along the last axis",
     .source = "Bridle 1989",
     .determinism = Determinism::run_to_run,
     .in_place = true},
    // A comparison, a difference, an exponential (20 operations), a sum and a quotient for each element.
    {.flops = [](const A& a) { return 24.0 * double(a.x.size()); },
     .cpu = cpu,
     .cases = cases,
     .aliases = aliases}};

}  // namespace kolmo
