#include <cmath>
#include <limits>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/timeseries/time_delayed_embedding/time_delayed_embedding.hpp"

namespace kolmo::check {
namespace {
using A = TimeDelayedEmbeddingArgs;

void expected(const A& a) {
  const std::int64_t n = a.x.extent[std::size_t(a.x.rank - 1)], batch = n ? a.x.size() / n : 0;
  std::int64_t to = 0;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t t = (a.dimension - 1) * a.tau; t < n; ++t)
      for (std::int64_t j = 0; j < a.dimension; ++j) put(a.embedded, to++, get(a.x, b * n + t - j * a.tau));
}

constexpr Fact facts[] = {
    {"0..5 with m = 3, tau = 2 has rows (4, 2, 0) and (5, 3, 1)",
     [](Stream& s) {
       float x[] = {0, 1, 2, 3, 4, 5}, e[6];
       call(time_delayed_embedding,
            {.x = tensor(x, {6}), .embedded = tensor(e, {2, 3}), .dimension = 3, .tau = 2}, s);
       for (const int i : {0, 1})
         expect(e[3 * i] == float(4 + i) && e[3 * i + 1] == float(2 + i) && e[3 * i + 2] == float(i), "rows");
     }},
    {"series of a batch are not mixed; NaN and infinity pass",
     [](Stream& s) {
       constexpr double infinity = std::numeric_limits<double>::infinity();
       double x[] = {1, std::nan(""), 3, infinity, 5, 6}, e[8];
       call(time_delayed_embedding, {.x = tensor(x, {2, 3}), .embedded = tensor(e, {2, 2, 2})}, s);
       expect(std::isnan(e[0]) && e[1] == 1 && e[2] == 3 && std::isnan(e[3]), "first series");
       expect(e[4] == 5 && e[5] == infinity && e[6] == 6 && e[7] == 5, "second series");
     }},
    {"a series too short is refused",
     [](Stream& s) {
       double x[4] = {}, e[1];
       expect_invalid(
           [&] {
             call(time_delayed_embedding,
                  {.x = tensor(x, {4}), .embedded = tensor(e, {0, 3}), .dimension = 3, .tau = 2}, s);
           },
           "time_delayed_embedding: x has 4 samples, but dimension 3 and tau 2 need at least 5");
     }},
};

}  // namespace

extern constinit const Oracle<A> time_delayed_embedding_oracle{time_delayed_embedding, expected, facts};

}  // namespace kolmo::check
