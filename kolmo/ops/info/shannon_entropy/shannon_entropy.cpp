#include "kolmo/ops/info/shannon_entropy/shannon_entropy.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/info/shannon_entropy/shannon_entropy_terms.hpp"
#include "kolmo/skeleton/row_sum_cpu.hpp"

namespace kolmo {
namespace {
using A = ShannonEntropyArgs;

void check(const A& a) {
  require(a.weights.dim(-1) > 0 || a.kind == WeightKind::probabilities,
          "shannon_entropy: weights has no counts");
  if (a.miller_madow && a.kind == WeightKind::probabilities)
    fail<InvalidArgument>("shannon_entropy: miller_madow needs kind=counts: probabilities do not tell N");
}

/// Divides the rows by their sums.
void probabilities(A& a) {
  a.kind = WeightKind::probabilities;
  const std::int64_t k = a.weights.extent[std::size_t(a.weights.rank - 1)];
  double* p = a.weights.as<double>();
  for (std::int64_t row = 0; row < a.weights.size() / k; ++row, p += k) {
    double total = 0;
    for (std::int64_t i = 0; i < k; ++i) total += p[i];
    for (std::int64_t i = 0; i < k; ++i) p[i] /= total;
  }
}
/// Makes all counts positive. A single bin with the count 0 would be no distribution.
void above_zero(A& a) {
  for (std::int64_t i = 0; i < a.weights.size(); ++i) ++a.weights.as<double>()[i];
}
void above_63(A& a) {
  for (std::int64_t i = 0; i < a.weights.size(); ++i) a.weights.as<double>()[i] += 62 + 0.5 * double(i % 8);
}
void some_above_63(A& a) {
  for (std::int64_t i = 0; i < a.weights.size(); i += 1000) a.weights.as<double>()[i] += 70.5;
}
void miller_madow(A& a) { a.miller_madow = true; }

// Sums and terms err by at most 32 roundings (base/sums.hpp) of 2^-53, times ln N < 17: below 1e-13.
constexpr Case<A> cases[] = {
    {.name = "k=1", .sizes = {{"...", 3}, {"k", 1}}, .tolerance = 1e-13, .setup = above_zero},
    {.name = "k=7 i64", .sizes = {{"...", 70}, {"k", 7}}, .dtype = DType::i64, .tolerance = 1e-13},
    {.name = "k=32 probabilities",
     .sizes = {{"...", 9}, {"k", 32}},
     .tolerance = 1e-13,
     .setup = probabilities},
    {.name = "k=33 i32 Miller-Madow",
     .sizes = {{"...", 9}, {"k", 33}},
     .dtype = DType::i32,
     .tolerance = 1e-13,
     .setup = miller_madow},
    {.name = "k=1000 f32", .sizes = {{"...", 5}, {"k", 1000}}, .dtype = DType::f32, .tolerance = 1e-13},
    {.name = "k=5000 f64", .sizes = {{"...", 2}, {"k", 5000}}, .tolerance = 1e-13},
    {.name = "k=5000 i64", .sizes = {{"...", 2}, {"k", 5000}}, .dtype = DType::i64, .tolerance = 1e-13},
    {.name = "k=5000 probabilities",
     .sizes = {{"...", 2}, {"k", 5000}},
     .tolerance = 1e-13,
     .setup = probabilities},
    {.name = "k=5000 f64, some above 63",
     .sizes = {{"...", 2}, {"k", 5000}},
     .tolerance = 1e-13,
     .setup = some_above_63},
    {.name = "k=540000 f32", .sizes = {{"...", 1}, {"k", 540000}}, .dtype = DType::f32, .tolerance = 1e-13},
    {.name = "k=16 i64", .sizes = {{"...", 150}, {"k", 16}}, .dtype = DType::i64, .tolerance = 1e-13},
    {.name = "k=8 i32", .sizes = {{"...", 130}, {"k", 8}}, .dtype = DType::i32, .tolerance = 1e-13},
    {.name = "k=24 f64, no small counts",
     .sizes = {{"...", 9}, {"k", 24}},
     .tolerance = 1e-13,
     .setup = above_63},
    {.name = "9000 rows of 19 i32",
     .sizes = {{"...", 9000}, {"k", 19}},
     .dtype = DType::i32,
     .tolerance = 1e-13},
    {.name = "10^6 rows of 16 i64",
     .sizes = {{"...", 1000000}, {"k", 16}},
     .dtype = DType::i64,
     .benchmark_only = true},
    {.name = "one row of 2^24 f64", .sizes = {{"...", 1}, {"k", 1 << 24}}, .benchmark_only = true},
};

constinit const Definition<ShannonEntropyArgs> definition{
    {.name = "shannon_entropy",
     .summary = "H = - sum_i p_i ln p_i of counts or probabilities along the last axis, in nats",
     .source = "Shannon 1948; Miller 1955",
     .determinism = Determinism::everywhere,
     .faults = weight_faults},
    // Each weight takes a logarithm (24 operations), a product and three sums.
    {.check = check, .flops = [](const A& a) { return 28.0 * double(a.weights.size()); }, .cases = cases}};

}  // namespace

constinit const Op<ShannonEntropyArgs> shannon_entropy{definition};
extern constinit const Impl<ShannonEntropyArgs> shannon_entropy_cpu = cpu::row_sum<EntropySums>();

}  // namespace kolmo
