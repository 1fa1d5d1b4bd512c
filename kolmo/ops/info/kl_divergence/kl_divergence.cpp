#include "kolmo/ops/info/kl_divergence/kl_divergence.hpp"

#include "kolmo/base/entropy.hpp"
#include "kolmo/runtime/cpu/sum_items.hpp"

namespace kolmo {
namespace {
using A = KlDivergenceArgs;

std::int64_t row_length(const A& a) { return a.p.extent[std::size_t(a.p.rank - 1)]; }

std::size_t workspace(const A& a, int) { return sum_rows_bytes<1>(a.divergence.size(), row_length(a)); }

void cpu(const A& a, void* workspace, Stream& s) {
  const std::int64_t k = row_length(a);
  visit<double, float>(a.p.dtype, [&]<class T> {
    sum_rows<1>(DivergenceRows<T>{a.p.as<T>(), a.q.as<T>(), k}, DivergenceOfRow{a.divergence.as<double>()},
                a.divergence.size(), k, workspace, SumItems{s.threads()});
  });
}

// 32 roundings (base/sums.hpp) of 2^-53 times the sum of magnitudes |p ln(p/q)|: below 1e-13 up to a sum
// of 18.
constexpr Case<A> cases[] = {
    {.name = "k=1", .sizes = {{"...", 3}, {"k", 1}}, .tolerance = 1e-13},
    {.name = "k=5 f64", .sizes = {{"...", 70}, {"k", 5}}, .tolerance = 1e-13},
    {.name = "k=33 f32", .sizes = {{"...", 9}, {"k", 33}}, .dtype = DType::f32, .tolerance = 1e-13},
    {.name = "k=1025 f64", .sizes = {{"...", 5}, {"k", 1025}}, .tolerance = 1e-13},
    {.name = "k=5000 f64", .sizes = {{"...", 2}, {"k", 5000}}, .tolerance = 1e-13},
    {.name = "10^6 rows of 16 f64", .sizes = {{"...", 1000000}, {"k", 16}}, .benchmark_only = true},
    {.name = "one row of 2^24 f64", .sizes = {{"...", 1}, {"k", 1 << 24}}, .benchmark_only = true},
};

}  // namespace

constinit const Op<KlDivergenceArgs> kl_divergence{
    {.name = "kl_divergence",
     .summary = "KL(p||q) = sum_i p_i ln(p_i / q_i) along the last axis, in nats",
     .source = "Kullback & Leibler 1951",
     .determinism = Determinism::everywhere},
    // A logarithm (30 operations), a quotient, a product and a sum for each pair.
    {.flops = [](const A& a) { return 33.0 * double(a.p.size()); },
     .cpu_workspace = workspace,
     .cpu = cpu,
     .cases = cases}};

}  // namespace kolmo
