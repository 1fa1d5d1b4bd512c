#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/info/conditional_entropy/conditional_entropy.hpp"
#include "kolmo/ops/info/mutual_information/mutual_information.hpp"
#include "kolmo/ops/info/shannon_entropy/shannon_entropy.hpp"

namespace kolmo::check {
namespace {
using A = ConditionalEntropyArgs;

void expected(const A& a) {
  const std::int64_t bx = a.joint.extent[std::size_t(a.joint.rank - 2)],
                     by = a.joint.extent[std::size_t(a.joint.rank - 1)];
  for (std::int64_t table = 0; table < a.entropy.size(); ++table) {
    const std::int64_t begin = table * bx * by;
    long double n = 0, h = 0;
    int bins = 0, rows = 0;
    for (std::int64_t i = 0; i < bx * by; ++i) n += get(a.joint, begin + i);
    for (std::int64_t x = 0; x < bx; ++x) {
      long double row = 0;
      for (std::int64_t y = 0; y < by; ++y) row += get(a.joint, begin + x * by + y);
      rows += row > 0;
      for (std::int64_t y = 0; y < by; ++y)
        if (const long double w = get(a.joint, begin + x * by + y); w > 0)
          h -= w / n * std::log(w / row), ++bins;
    }
    if (n == 0) h = std::nan("");
    put(a.entropy, table, a.miller_madow ? h + (bins - rows) / (2 * n) : h);
  }
}

template <class T>
double entropy(std::vector<T> joint, std::int64_t bx, Stream& s, bool miller_madow = false) {
  double h = -1;
  const std::int64_t by = std::int64_t(joint.size()) / bx;
  call(conditional_entropy,
       {.joint = tensor(joint.data(), {bx, by}), .entropy = tensor(&h, {}), .miller_madow = miller_madow}, s);
  return h;
}
double plain(std::vector<double> counts, Stream& s, bool miller_madow = false) {
  double h = -1;
  call(shannon_entropy,
       {.weights = tensor(counts.data(), {std::int64_t(counts.size())}),
        .entropy = tensor(&h, {}),
        .miller_madow = miller_madow},
       s);
  return h;
}

const double ln2 = std::log(2.0);

constexpr Fact facts[] = {
    {"x determines y: exactly 0",
     [](Stream& s) {
       expect(entropy<std::int64_t>({7, 0, 0, 0, 3, 0, 5, 0, 0}, 3, s) == 0, "one bin a row");
       expect(entropy<double>({0.3, 0.1, 0.6}, 3, s) == 0, "one column");
     }},
    {"x tells nothing: H(Y)",
     [](Stream& s) {
       expect_near(entropy<std::int32_t>({2, 2, 3, 3}, 2, s), ln2, 1e-15, "fair coin");
       expect_near(entropy<float>({2, 1, 1}, 1, s), 1.5 * ln2, 1e-15, "one row");
     }},
    {"table 2 2 / 4 0: H = ln(2) / 2; Miller-Madow adds (3 - 2) / 16",
     [](Stream& s) {
       expect_near(entropy<std::int64_t>({2, 2, 4, 0}, 2, s), ln2 / 2, 1e-15, "plug-in");
       expect_near(entropy<std::int64_t>({2, 2, 4, 0}, 2, s, true), ln2 / 2 + 1.0 / 16, 1e-15,
                   "Miller-Madow");
     }},
    {"chain rule H(X,Y) = H(X) + H(Y|X), I(X;Y) = H(Y) - H(Y|X), plug-in and corrected",
     [](Stream& s) {
       const std::vector<double> joint = {1, 2, 0, 4, 5, 6};
       for (const bool corrected : {false, true}) {
         const double given_x = entropy(joint, 2, s, corrected);
         expect_near(plain({3, 15}, s, corrected) + given_x, plain(joint, s, corrected), 2e-15, "chain rule");
         double table[] = {1, 2, 0, 4, 5, 6}, mi = 0;
         call(mutual_information,
              {.joint = tensor(table, {2, 3}), .information = tensor(&mi, {}), .miller_madow = corrected}, s);
         expect_near(plain({5, 7, 6}, s, corrected) - given_x, mi, 2e-15, "mutual information");
       }
     }},
    {"weights that are no distribution are faults of their table; unchecked, its result is NaN",
     [](Stream& s) {
       expect_invalid(
           [&] {
             entropy<std::int64_t>({0, 0, 0, 0}, 2, s);
           },
           "conditional_entropy: weights sum to 0 at element 0");
       expect_invalid([&] { entropy<double>({}, 2, s); }, "conditional_entropy: joint has no bins");
       for (const double wrong : {-1.0, std::nan(""), HUGE_VAL}) {
         std::vector<double> joint(3 * 4, 1), result(3);
         joint[6] = joint[8] = wrong;
         const A a{.joint = tensor(joint.data(), {3, 2, 2}), .entropy = tensor(result.data(), {3})};
         expect_invalid(
             [&] { call(conditional_entropy, a, s); },
             "conditional_entropy: weights are negative, not finite or too large to sum at element 1");
         s.check_data(false);
         call(conditional_entropy, a, s);
         s.check_data(true);
         expect(result[0] == ln2 && std::isnan(result[1]) && std::isnan(result[2]), "unchecked");
       }
     }},
};

}  // namespace

extern constinit const Oracle<A> conditional_entropy_oracle{conditional_entropy, expected, facts};

}  // namespace kolmo::check
