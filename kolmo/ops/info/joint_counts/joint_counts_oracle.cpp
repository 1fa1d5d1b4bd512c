#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/info/histogram_2d/histogram_2d.hpp"
#include "kolmo/ops/info/joint_counts/joint_counts.hpp"
#include "kolmo/ops/info/kl_divergence/kl_divergence.hpp"
#include "kolmo/ops/info/shannon_entropy/shannon_entropy.hpp"

namespace kolmo::check {
namespace {

void expected_entropy(const ConditionalEntropyArgs& a) {
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

void expected_information(const MutualInformationArgs& a) {
  const std::int64_t bx = a.joint.extent[std::size_t(a.joint.rank - 2)],
                     by = a.joint.extent[std::size_t(a.joint.rank - 1)];
  for (std::int64_t table = 0; table < a.information.size(); ++table) {
    std::vector<long double> px(std::size_t(bx), 0), py(std::size_t(by), 0);
    const auto w = [&](std::int64_t x, std::int64_t y) { return get(a.joint, (table * bx + x) * by + y); };
    for (std::int64_t x = 0; x < bx; ++x)
      for (std::int64_t y = 0; y < by; ++y) px[std::size_t(x)] += w(x, y), py[std::size_t(y)] += w(x, y);
    const long double n = std::accumulate(px.begin(), px.end(), 0.0L);
    long double mi = n > 0 ? 0 : std::nan("");
    int bins = 0, rows = 0, columns = 0;
    for (const auto p : px) rows += p > 0;
    for (const auto p : py) columns += p > 0;
    for (std::int64_t x = 0; x < bx; ++x)
      for (std::int64_t y = 0; y < by; ++y)
        if (const long double p = w(x, y); p > 0)
          mi += p / n * std::log(p * n / (px[std::size_t(x)] * py[std::size_t(y)])), ++bins;
    put(a.information, table, a.miller_madow ? mi + (rows + columns - bins - 1) / (2 * n) : mi);
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

template <class T>
double information(std::vector<T> joint, std::int64_t bx, Stream& s, bool miller_madow = false) {
  double mi = -1;
  const std::int64_t by = std::int64_t(joint.size()) / bx;
  call(
      mutual_information,
      {.joint = tensor(joint.data(), {bx, by}), .information = tensor(&mi, {}), .miller_madow = miller_madow},
      s);
  return mi;
}

const double ln2 = std::log(2.0);

/// Checks the faults of weights. `of_ones` is the result for a 2 x 2 table of ones.
template <class A>
void refuses_wrong_weights(const Op<A>& op, Out A::*result, const std::string& name, double of_ones,
                           Stream& s) {
  std::vector<double> results(3);
  const auto of = [&](auto* joint, std::int64_t tables, std::int64_t columns) {
    A a{.joint = tensor(joint, {tables, 2, columns})};
    a.*result = tensor(results.data(), {tables});
    return a;
  };
  std::int64_t zeros[4] = {};
  expect_invalid([&] { call(op, of(zeros, 1, 2), s); }, name + ": weights sum to 0 at element 0");
  expect_invalid([&] { call(op, of(zeros, 1, 0), s); }, name + ": joint has no bins");
  for (const double wrong : {-1.0, std::nan(""), HUGE_VAL}) {
    std::vector<double> joint(3 * 4, 1);
    joint[6] = joint[8] = wrong;
    const A a = of(joint.data(), 3, 2);
    expect_invalid([&] { call(op, a, s); },
                   name + ": weights are negative, not finite or too large to sum at element 1");
    s.check_data(false);
    call(op, a, s);
    s.check_data(true);
    expect(results[0] == of_ones && std::isnan(results[1]) && std::isnan(results[2]), "unchecked");
  }
}

constexpr Fact entropy_facts[] = {
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
       refuses_wrong_weights(conditional_entropy, &ConditionalEntropyArgs::entropy, "conditional_entropy",
                             ln2, s);
     }},
};

constexpr Fact information_facts[] = {
    {"a copy tells all: I = ln 2 for a fair coin, ln 3 for three sides",
     [](Stream& s) {
       expect_near(information<std::int64_t>({5, 0, 0, 5}, 2, s), ln2, 1e-15, "coin");
       expect_near(information<double>({0, 2, 0, 2, 0, 0, 0, 0, 2}, 3, s), std::log(3.0), 1e-15,
                   "three sides");
     }},
    {"independent: 0",
     [](Stream& s) {
       expect_near(information<std::int32_t>({1, 2, 3, 2, 4, 6}, 2, s), 0, 1e-15, "product table");
       expect(information<float>({0.25f, 0.5f, 0.25f}, 1, s) == 0, "one row");
       expect(information<float>({0.25f, 0.5f, 0.25f}, 3, s) == 0, "one column");
     }},
    {"table 3 1 / 1 3: I = ln 2 + (3/4) ln(3/4) + (1/4) ln(1/4)",
     [](Stream& s) {
       const double want = ln2 + 0.75 * std::log(0.75) + 0.25 * std::log(0.25);
       expect_near(information<std::int64_t>({3, 1, 1, 3}, 2, s), want, 1e-15, "plug-in");
       // The correction is (K_x + K_y - K_xy - 1) / (2 N) = -1 / 16, as 2 + 2 - 4 - 1 = -1 and N = 8.
       expect_near(information<std::int64_t>({3, 1, 1, 3}, 2, s, true), want - 1.0 / 16, 1e-15,
                   "Miller-Madow");
     }},
    {"symmetric: I(X;Y) = I(Y;X)",
     [](Stream& s) {
       expect_near(information<double>({1, 2, 0, 4, 5, 6}, 2, s),
                   information<double>({1, 4, 2, 5, 0, 6}, 3, s), 2e-15, "transposed");
     }},
    {"I = KL(joint || product of margins)",
     [](Stream& s) {
       std::vector<double> p = {0.125, 0.25, 0, 0.125, 0.25, 0.25}, q;
       for (const double px : {0.375, 0.625})
         for (const double py : {0.25, 0.5, 0.25}) q.push_back(px * py);
       double kl = 0;
       call(kl_divergence,
            {.p = tensor(p.data(), {6}), .q = tensor(q.data(), {6}), .divergence = tensor(&kl, {})}, s);
       expect_near(information(p, 2, s), kl, 1e-15, "KL");
     }},
    {"from data: histogram_2d, then this",
     [](Stream& s) {
       double x[] = {0.1, 0.2, 0.8, 0.9}, y[] = {3, 4, -3, -4};
       std::vector<std::int64_t> joint(4);
       call(histogram_2d,
            {.x = tensor(x, {4}),
             .y = tensor(y, {4}),
             .counts = tensor(joint.data(), {2, 2}),
             .bins_x = 2,
             .bins_y = 2,
             .y_min = -5,
             .y_max = 5},
            s);
       expect_near(information(joint, 2, s), ln2, 1e-15, "x determines y");
     }},
    {"weights that are no distribution are faults of their table; unchecked, its result is NaN",
     [](Stream& s) {
       refuses_wrong_weights(mutual_information, &MutualInformationArgs::information, "mutual_information", 0,
                             s);
     }},
};

}  // namespace

extern constinit const Oracle<ConditionalEntropyArgs> conditional_entropy_oracle{
    conditional_entropy, expected_entropy, entropy_facts};
extern constinit const Oracle<MutualInformationArgs> mutual_information_oracle{
    mutual_information, expected_information, information_facts};

}  // namespace kolmo::check
