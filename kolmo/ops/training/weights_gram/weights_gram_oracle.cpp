#include <algorithm>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/training/weights_gram/weights_gram.hpp"

namespace kolmo::check {
namespace {
using A = WeightsGramArgs;

void expected(const A& a) {
  const std::int64_t m = a.weights.dim(-2), n = a.weights.dim(-1);
  for (std::int64_t at = 0; at < a.gram.size(); ++at) {
    const std::int64_t matrix = at / (m * m), i = at / m % m, j = at % m;
    long double sum = 0;
    for (std::int64_t t = 0; t < n; ++t) {
      const long double base = a.base.given() ? get(a.base, matrix * n + t) : 0;
      sum += (get(a.weights, (matrix * m + i) * n + t) - base) *
             (get(a.weights, (matrix * m + j) * n + t) - base);
    }
    put(a.gram, at, sum);
  }
}

constexpr Fact facts[] = {
    {"by hand: three vectors, and their differences to the last",
     [](Stream& s) {
       float w[] = {1, 2, 3, -1, 0, 2};
       double of[9];
       call(weights_gram, {.weights = tensor(w, {3, 2}), .gram = tensor(of, {3, 3})}, s);
       const double plain[] = {5, 1, 4, 1, 10, -2, 4, -2, 4};
       expect(std::equal(of, of + 9, plain), "plain");
       call(weights_gram,
            {.weights = tensor(w, {3, 2}), .base = tensor(w + 4, {2}), .gram = tensor(of, {3, 3})}, s);
       const double from_last[] = {1, 3, 0, 3, 18, 0, 0, 0, 0};
       expect(std::equal(of, of + 9, from_last), "differences");
     }},
    {"the matrix of many vectors over several chunks is exactly symmetric, with the squared norms on its "
     "diagonal",
     [](Stream& s) {
       constexpr std::int64_t m = 10, n = 4100;
       std::vector<double> w(m * n), gram(m * m);
       for (std::int64_t i = 0; i < m; ++i)
         for (std::int64_t t = 0; t < n; ++t) w[std::size_t(i * n + t)] = t % m == i ? double(i + 1) : 0;
       call(weights_gram, {.weights = tensor(w.data(), {m, n}), .gram = tensor(gram.data(), {m, m})}, s);
       for (std::int64_t i = 0; i < m; ++i)
         for (std::int64_t j = 0; j < m; ++j)
           expect(gram[std::size_t(i * m + j)] == (i == j ? double((i + 1) * (i + 1) * (n / m)) : 0), "gram");
     }},
    {"vectors without elements have products of 0",
     [](Stream& s) {
       double none = 0, gram[4] = {1, 1, 1, 1};
       call(weights_gram, {.weights = tensor(&none, {2, 0}), .gram = tensor(gram, {2, 2})}, s);
       expect(std::all_of(gram, gram + 4, [](double g) { return g == 0; }), "gram");
     }},
};

}  // namespace

extern constinit const Oracle<A> weights_gram_oracle{weights_gram, expected, facts};

}  // namespace kolmo::check
