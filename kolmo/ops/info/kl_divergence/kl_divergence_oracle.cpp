#include <cmath>
#include <limits>
#include <vector>

#include "kolmo/check/reference.hpp"
#include "kolmo/ops/info/kl_divergence/kl_divergence.hpp"

namespace kolmo::check {
namespace {
using A = KlDivergenceArgs;

double divergence(std::vector<double> p, std::vector<double> q, Stream& s) {
  double d = -1;
  const auto k = std::int64_t(p.size());
  call(kl_divergence, {.p = tensor(p.data(), {k}), .q = tensor(q.data(), {k}), .divergence = tensor(&d, {})},
       s);
  return d;
}

/// Returns numbers that sum to 1: those given, each times a random factor from 1 - spread to 1, then
/// normalised.
std::vector<double> near(std::vector<double> p, double spread, std::uint64_t seed) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] *= 1 - spread * double(philox32(seed, i)) * 0x1p-32;
  for (double& v : p) v /= sum;
  return p;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr Fact facts[] = {
    {"KL((1/2, 1/2) || (1/4, 3/4)) = ln 2 - ln(3) / 2",
     [](Stream& s) {
       expect_near(divergence({0.5, 0.5}, {0.25, 0.75}, s), std::log(2.0) - std::log(3.0) / 2, 1e-15, "KL");
     }},
    {"above 0 between random distributions, near ones too",
     [](Stream& s) {
       for (std::uint64_t seed = 1; seed <= 20; ++seed) {
         const std::vector<double> p = near(std::vector<double>(2 + 50 * (seed - 1), 1), 1, seed);
         for (const double spread : {1.0, 1e-1, 1e-5})
           expect(divergence(p, near(p, spread, seed + 100), s) > 0, "KL is not above 0");
       }
     }},
    {"exactly 0 between equals",
     [](Stream& s) {
       expect(divergence({0.1, 0.2, 0.7, 0}, {0.1, 0.2, 0.7, 0}, s) == 0, "KL(p||p)");
     }},
    {"0 ln 0 = 0; q = 0 < p gives inf",
     [](Stream& s) {
       expect_near(divergence({0, 1}, {0.5, 0.5}, s), std::log(2.0), 1e-15, "p = 0");
       expect_near(divergence({0, 1}, {0, 0.5}, s), std::log(2.0), 1e-15, "p = q = 0");
       expect(divergence({0.5, 0.5}, {1, 0}, s) == infinity, "q = 0 < p");
       expect(divergence({}, {}, s) == 0, "no entries");
     }},
    {"quotients beyond the range of double",
     [](Stream& s) {
       expect_near(divergence({1}, {1e-310}, s), -std::log(1e-310), 1e-13, "p / q overflows");
       expect_near(divergence({1e-200}, {1e200}, s), 0, 1e-190, "p / q underflows");
     }},
    {"entries that are no probabilities are faults of their row; unchecked, its result is NaN",
     [](Stream& s) {
       const auto refused = [&](std::vector<double> p, std::vector<double> q) {
         p.insert(p.begin(), {0.5, 0.5}), q.insert(q.begin(), {0.5, 0.5});
         double d[2] = {};
         const A a{
             .p = tensor(p.data(), {2, 2}), .q = tensor(q.data(), {2, 2}), .divergence = tensor(d, {2})};
         expect_invalid([&] { call(kl_divergence, a, s); },
                        "kl_divergence: p or q has entries that are negative or not finite at element 1");
         s.check_data(false);
         call(kl_divergence, a, s);
         s.check_data(true);
         expect(d[0] == 0 && std::isnan(d[1]), "unchecked");
       };
       refused({-0.5, 1.5}, {0.5, 0.5});
       refused({0, 1}, {-0.5, 1.5});
       refused({std::nan(""), 1}, {0.5, 0.5});
       refused({infinity, 1}, {0.5, 0.5});
       refused({0.5, 0.5}, {0.5, infinity});
     }},
};

}  // namespace

extern constinit const Oracle<A> kl_divergence_oracle{
    kl_divergence,
    per_row<[](auto p, auto q) { return p == 0 ? p : p * (std::log(p) - std::log(q)); }, &A::divergence,
            &A::p, &A::q>,
    facts};

}  // namespace kolmo::check
