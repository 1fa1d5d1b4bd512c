#include <cmath>
#include <string>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/info/shannon_entropy/shannon_entropy.hpp"

namespace kolmo::check {
namespace {
using A = ShannonEntropyArgs;

void expected(const A& a) {
  const std::int64_t k = a.weights.extent[std::size_t(a.weights.rank - 1)];
  for (std::int64_t row = 0; row < a.entropy.size(); ++row) {
    long double total = 0, h = 0;
    int nonzero = 0;
    for (std::int64_t i = 0; i < k; ++i) total += get(a.weights, row * k + i);
    const long double scale = a.kind == WeightKind::counts ? total : 1;
    for (std::int64_t i = 0; i < k; ++i) {
      const long double p = get(a.weights, row * k + i) / scale;
      if (p != 0) h -= p * std::log(p), ++nonzero;
    }
    if (a.kind == WeightKind::counts && total == 0) h = std::nan("");
    put(a.entropy, row, a.miller_madow ? h + (nonzero - 1) / (2 * total) : h);
  }
}

template <class T>
double entropy(std::vector<T> w, Stream& s, WeightKind kind = WeightKind::counts, bool miller_madow = false) {
  double h = -1;
  call(shannon_entropy,
       {.weights = tensor(w.data(), {std::int64_t(w.size())}),
        .entropy = tensor(&h, {}),
        .kind = kind,
        .miller_madow = miller_madow},
       s);
  return h;
}

const double ln2 = std::log(2.0);

constexpr Fact facts[] = {
    {"a fair coin has ln 2, a die ln 6, (1/2, 1/4, 1/4) has 3/2 ln 2",
     [](Stream& s) {
       expect_near(entropy<double>({5, 5}, s), ln2, 1e-15, "coin");
       expect_near(entropy<std::int64_t>({7, 7, 7, 7, 7, 7}, s), std::log(6.0), 1e-15, "die");
       expect_near(entropy<std::int32_t>({2, 1, 1}, s), 1.5 * ln2, 1e-15, "counts 2 1 1");
       expect_near(entropy<float>({0.5f, 0.25f, 0.25f}, s, WeightKind::probabilities), 1.5 * ln2, 1e-15,
                   "probabilities");
     }},
    {"one outcome has exactly 0, empty bins change nothing",
     [](Stream& s) {
       expect(entropy<double>({0, 0, 977, 0}, s) == 0, "one nonzero count");
       expect(entropy<double>({0.1}, s) == 0, "one bin");
       expect(entropy<double>({1, 0}, s, WeightKind::probabilities) == 0, "certain outcome");
       expect(entropy<double>({3, 0, 0, 5, 0}, s) == entropy<double>({3, 5, 0, 0, 0}, s), "empty bins");
     }},
    {"Miller-Madow: counts 2 1 1 0 add (3 - 1) / 8",
     [](Stream& s) {
       expect_near(entropy<std::int64_t>({2, 1, 1, 0}, s, WeightKind::counts, true), 1.5 * ln2 + 0.25, 1e-15,
                   "Miller-Madow");
     }},
    {"probabilities are not normalised, counts are",
     [](Stream& s) {
       expect_near(entropy<double>({0.25, 0.25}, s, WeightKind::probabilities), ln2, 1e-15, "sum 1/2");
       expect_near(entropy<double>({0.25, 0.25}, s), ln2, 1e-15, "as weights");
       expect_near(entropy<double>({0.5}, s, WeightKind::probabilities), ln2 / 2, 1e-15,
                   "half a distribution");
     }},
    {"weights that are no distribution are faults of their row",
     [](Stream& s) {
       const auto refused = [&]<class T>(std::vector<T> w, const char* why,
                                         WeightKind kind = WeightKind::counts) {
         expect_invalid([&] { entropy<T>(w, s, kind); },
                        std::string("shannon_entropy: weights ") + why + " at element 0");
       };
       const char *unusable = "are negative, not finite or too large to sum", *none = "sum to 0";
       refused(std::vector<double>{0, 0, 0}, none);
       refused(std::vector<std::int64_t>{-1, 3}, unusable);
       refused(std::vector<double>{-1, 0, 0}, unusable);
       refused(std::vector<double>{std::nan(""), 1}, unusable);
       refused(std::vector<double>{HUGE_VAL, 1}, unusable);
       refused(std::vector<double>{HUGE_VAL, 1}, unusable, WeightKind::probabilities);
       refused(std::vector<float>{0.5f, -0.5f}, unusable, WeightKind::probabilities);
       expect(entropy<double>({0, 0}, s, WeightKind::probabilities) == 0, "probabilities of 0");
       expect(entropy<double>({}, s, WeightKind::probabilities) == 0, "no probabilities");
       expect_invalid([&] { entropy<double>({}, s); }, "shannon_entropy: weights has no counts");
     }},
    {"the first row at fault is told; unchecked, its result is NaN and the others are right",
     [](Stream& s) {
       std::vector<double> w(3 * 2500, 1), h(3);
       w[2500 + 2400] = -1, w[5000] = -1;
       const A a{.weights = tensor(w.data(), {3, 2500}), .entropy = tensor(h.data(), {3})};
       expect_invalid([&] { call(shannon_entropy, a, s); }, "too large to sum at element 1");
       s.check_data(false);
       call(shannon_entropy, a, s);
       s.check_data(true);
       expect_near(h[0], std::log(2500.0), 1e-13, "a right row");
       expect(std::isnan(h[1]) && std::isnan(h[2]), "rows at fault");
     }},
    {"Miller-Madow needs counts",
     [](Stream& s) {
       expect_invalid(
           [&] {
             entropy<double>({0.5, 0.5}, s, WeightKind::probabilities, true);
           },
           "shannon_entropy: miller_madow needs kind=counts");
     }},
};

}  // namespace

extern constinit const Oracle<A> shannon_entropy_oracle{shannon_entropy, expected, facts};

}  // namespace kolmo::check
