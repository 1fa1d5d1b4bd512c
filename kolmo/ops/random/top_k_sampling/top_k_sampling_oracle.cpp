#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kolmo/check/reference.hpp"
#include "kolmo/ops/random/top_k_sampling/top_k_sampling.hpp"

namespace kolmo::check {
namespace {
using A = TopKSamplingArgs;

/// Sorts all words, cuts the order, and draws by the sum of the weights that are left.
void expected(const A& a) {
  const std::int64_t v = a.logits.dim(-1);
  for (std::int64_t row = 0; row < a.logits.size() / v; ++row) {
    const auto logit = [&](std::int64_t i) { return get(a.logits, row * v + i); };
    std::vector<std::int64_t> order(static_cast<std::size_t>(v));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return logit(i) > logit(j); });
    if (a.top_k > 0 && a.top_k < v) order.resize(std::size_t(a.top_k));
    std::vector<long double> weight(std::size_t(v), 0);
    long double total = 0, kept = 0;
    const long double most = logit(order[0]);
    for (const auto i : order)
      total += weight[std::size_t(i)] = std::exp((logit(i) - most) / static_cast<long double>(a.temperature));
    for (const auto i : order) {
      long double& w = weight[std::size_t(i)];
      if (kept < static_cast<long double>(a.top_p) * total)
        kept += w;
      else
        w = 0;
    }
    for (std::int64_t j = row * a.n; j < (row + 1) * a.n; ++j) {
      const long double at =
          kept * std::ldexp(static_cast<long double>(philox64(a.seed, std::uint64_t(a.offset + j))), -64);
      long double sum = 0;
      std::int64_t drawn = 0;
      while (sum += weight[std::size_t(drawn)], sum <= at) ++drawn;
      a.index.as<std::int64_t>()[j] = drawn;
      if (a.probability.given()) put(a.probability, j, weight[std::size_t(drawn)] / kept);
    }
  }
}

struct Draws {
  std::vector<std::int64_t> index;
  std::vector<double> probability;
};
Draws draws(std::vector<double> logits, std::int64_t n, A a, Stream& s) {
  Draws d{std::vector<std::int64_t>(std::size_t(n), -7), std::vector<double>(std::size_t(n), -7.0)};
  a.n = n;
  a.logits = tensor(logits.data(), {std::int64_t(logits.size())});
  a.index = tensor(d.index.data(), {n}), a.probability = tensor(d.probability.data(), {n});
  call(top_k_sampling, a, s);
  return d;
}

/// Checks that only these words are drawn, with the probabilities given, and as often as these say
/// (chi-square at 0.1 %).
void check_draws(const std::vector<double>& logits, const std::vector<double>& p, const A& a, Stream& s,
                 std::int64_t n = 100000) {
  const Draws d = draws(logits, n, a, s);
  std::vector<double> count(p.size());
  for (std::size_t j = 0; j < d.index.size(); ++j) {
    const auto i = std::size_t(d.index[j]);
    ++count[i];
    expect_near(d.probability[j], p[i], 1e-11, "probability");
  }
  double chi_square = 0;
  int categories = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    expect(p[i] > 0 || count[i] == 0, "a word was drawn that may not be");
    if (p[i] > 0) chi_square += std::pow(count[i] - p[i] * double(n), 2) / (p[i] * double(n)), ++categories;
  }
  constexpr double limit[] = {0, 1e-9, 10.83, 13.82, 16.27, 18.47};  // for categories - 1 degrees of freedom
  expect(chi_square < limit[categories], "chi-square is " + std::to_string(chi_square));
}
const std::vector<double>& logits_of_tenths() {  // probabilities 0.2, 0.1, 0.4, 0.3
  static const std::vector<double> logits = {std::log(2.0), 0, std::log(4.0), std::log(3.0)};
  return logits;
}

constexpr Fact facts[] = {
    {"a million draws of all words; 100000 each of the top 2, the share 0.65, both: chi-square below the 0.1 "
     "% point",
     [](Stream& s) {
       check_draws(logits_of_tenths(), {0.2, 0.1, 0.4, 0.3}, {}, s, 1000000);
       check_draws(logits_of_tenths(), {0, 0, 4. / 7, 3. / 7}, {.top_k = 2}, s);
       check_draws(logits_of_tenths(), {0, 0, 4. / 7, 3. / 7}, {.top_p = 0.65}, s);
       check_draws(logits_of_tenths(), {2. / 9, 0, 4. / 9, 3. / 9}, {.top_p = 0.75}, s);
       check_draws(logits_of_tenths(), {0, 0, 1, 0}, {.top_p = 0.4, .top_k = 3}, s);
     }},
    {"temperature 1/2 squares the odds",
     [](Stream& s) {
       check_draws(logits_of_tenths(), {4. / 30, 1. / 30, 16. / 30, 9. / 30}, {.temperature = 0.5}, s);
     }},
    {"of equal logits the first may be drawn; -0 equals 0; top_k = 1 takes the largest",
     [](Stream& s) {
       check_draws({1, 1, 1, 1, 1}, {0.5, 0.5, 0, 0, 0}, {.top_k = 2}, s);
       check_draws({-5, -0.0, 0, -0.0}, {0, 0.5, 0.5, 0}, {.top_k = 2}, s);
       check_draws({1, 1, 1, 1, 1}, {1. / 3, 1. / 3, 1. / 3, 0, 0}, {.top_p = 0.5}, s);
       check_draws({1, 3, 2, 3}, {0, 1, 0, 0}, {.top_k = 1}, s);
     }},
    {"-inf masks a word, large logits do not overflow",
     [](Stream& s) {
       check_draws({-HUGE_VAL, 1e300, 1e300, -1e300}, {0, 0.5, 0.5, 0}, {}, s);
       check_draws({-HUGE_VAL, 2, -HUGE_VAL}, {0, 1, 0}, {.top_k = 2}, s);
     }},
    {"faults: NaN, inf, nothing but -inf",
     [](Stream& s) {
       expect_invalid([&] { draws({0, std::nan("")}, 3, {}, s); }, "logits is NaN or infinite at element 1");
       expect_invalid([&] { draws({HUGE_VAL, 0}, 3, {}, s); }, "logits is NaN or infinite at element 0");
       expect_invalid([&] { draws({-HUGE_VAL, -HUGE_VAL}, 3, {}, s); }, "no finite number");
     }},
    {"rows of 1000: the largest are found wherever they are, equal ones by number, and so are faults",
     [](Stream& s) {
       std::vector<double> logits(1000, 1), p(1000);
       p[0] = p[1] = 0.5;
       check_draws(logits, p, {.top_k = 2}, s);
       p.assign(1000, 0), p[63] = p[64] = p[999] = 1. / 3;
       logits[63] = logits[64] = logits[999] = 5;
       check_draws(logits, p, {.top_k = 3}, s);
       p[999] = 0, p[63] = p[64] = 0.5;
       check_draws(logits, p, {.top_k = 2}, s), check_draws(logits, p, {.top_p = 0.5, .top_k = 3}, s);
       logits[700] = std::nan("");
       expect_invalid([&] { draws(logits, 3, {.top_k = 2}, s); }, "logits is NaN or infinite at element 700");
       logits.assign(1000, -HUGE_VAL);
       expect_invalid([&] { draws(logits, 3, {.top_k = 2}, s); }, "no finite number");
     }},
    {"temperature 0 and top_p 0 are refused",
     [](Stream& s) {
       expect_invalid([&] { draws({0, 1}, 1, {.temperature = 0}, s); }, "temperature must be above 0");
       expect_invalid([&] { draws({0, 1}, 1, {.top_p = 0}, s); }, "top_p must be above 0");
     }},
};

}  // namespace

extern constinit const Oracle<A> top_k_sampling_oracle{top_k_sampling, expected, facts};

}  // namespace kolmo::check
