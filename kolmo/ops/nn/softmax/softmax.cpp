#include "kolmo/ops/nn/softmax/softmax.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/ops/nn/softmax/softmax_cpu.hpp"
#include "kolmo/runtime/cpu/convert.hpp"
#include "kolmo/runtime/cpu/row_parts.hpp"

namespace kolmo {
namespace {
using A = SoftmaxArgs;

std::int64_t row_length(const A& a) { return a.x.extent[std::size_t(a.x.rank - 1)]; }

std::size_t workspace(const A& a, int) {
  return row_parts_bytes<Exponentials>(a.x.size() / row_length(a), row_length(a));
}

/// What a sum relative to `from` is to be multiplied by to be relative to `to`.
double weight(double from, double to) { return from == -HUGE_VAL ? 0 : std::exp(from - to); }

Exponentials join(const Exponentials& a, const Exponentials& b) {
  const double largest = std::max(a.largest, b.largest);
  return {largest, a.sum * weight(a.largest, largest) + b.sum * weight(b.largest, largest)};
}

/// Exponentials are kept in y from the first time to the last, or made again where y has 16 bits.
template <class T>
void softmax_of(const A& a, void* workspace, int threads) {
  using C = Compute<T>;
  constexpr bool kept = std::is_same_v<T, C>;
  const std::int64_t k = row_length(a);
  for_row_parts<Exponentials>(
      threads, a.x.size() / k, k, workspace,
      [&](std::int64_t row, std::int64_t begin, std::int64_t n) {
        const T* const x = a.x.as<T>() + row * k + begin;
        if constexpr (kept) return exponentials(x, n, a.y.as<T>() + row * k + begin);
        C wide[row_part];
        widen(x, n, wide);
        return exponentials(wide, n, wide);
      },
      join,
      [&](std::int64_t row, std::int64_t begin, std::int64_t n, const Exponentials& part,
          const Exponentials& whole) {
        T* const y = a.y.as<T>() + row * k + begin;
        const C factor = C(weight(part.largest, whole.largest) / whole.sum);
        if constexpr (kept) return scale(y, n, factor);
        C wide[row_part];
        widen(a.x.as<T>() + row * k + begin, n, wide);
        exponentials(wide, n, wide);
        scale(wide, n, factor);
        narrow(wide, n, y);
      });
}

void cpu(const A& a, void* workspace, Stream& s) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> { softmax_of<T>(a, workspace, s.threads()); });
}

// The relative error of y is that of two exponentials (2 ulp each, and half an ulp of the difference
// |x - max| < 16), of a sum of k < 2^16 terms in a tree of at most 32 + 16 levels (CPU: 35 within 256 terms,
// then, in double, 15 of these and 4 parts), and of the quotient: below 80 roundings, to which a 16-bit dtype
// adds its own half ulp. y <= 1, and below 1/32 in rows of 1000.
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
     .cpu_workspace = workspace,
     .cpu = cpu,
     .cases = cases,
     .aliases = aliases}};

}  // namespace kolmo
