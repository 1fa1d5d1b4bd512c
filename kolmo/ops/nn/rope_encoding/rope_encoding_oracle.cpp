#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/nn/rope_encoding/rope_encoding.hpp"

namespace kolmo::check {
namespace {
using A = RopeEncodingArgs;

void expected(const A& a) {
  const std::int64_t s = a.x.dim(-2), d = a.x.dim(-1);
  for (std::int64_t row = 0; row < a.x.size() / d; ++row)
    for (std::int64_t i = 0; i < d / 2; ++i) {
      const auto position =
          static_cast<long double>(a.offset) +
          (a.position.given() ? get(a.position, row % s) : static_cast<long double>(row % s));
      const long double angle =
          position / std::pow(static_cast<long double>(a.theta),
                              2 * static_cast<long double>(i) / static_cast<long double>(d));
      const bool halves = a.pairs == RopePairs::halves;
      const std::int64_t first = row * d + (halves ? i : 2 * i), second = first + (halves ? d / 2 : 1);
      const long double p = get(a.x, first), q = get(a.x, second);
      put(a.y, first, p * std::cos(angle) - q * std::sin(angle));
      put(a.y, second, p * std::sin(angle) + q * std::cos(angle));
    }
}

constexpr Fact facts[] = {
    {"position 0 changes nothing; the first pair turns by one radian a position",
     [](Stream& s) {
       double x[] = {3, 4, 1, 0}, y[4] = {};
       call(rope_encoding, {.x = tensor(x, {2, 2}), .y = tensor(y, {2, 2})}, s);
       expect(y[0] == 3 && y[1] == 4, "position 0");
       expect_near(y[2], std::cos(1.0), 1e-15, "cos 1");
       expect_near(y[3], std::sin(1.0), 1e-15, "sin 1");
     }},
    {"both ways to pair are one rotation of permuted elements",
     [](Stream& s) {
       double x[] = {1, 2, 3, 4}, permuted[] = {1, 3, 2, 4}, y[4] = {}, z[4] = {};
       call(rope_encoding, {.x = tensor(x, {1, 4}), .y = tensor(y, {1, 4}), .offset = 5}, s);
       call(rope_encoding,
            {.x = tensor(permuted, {1, 4}), .y = tensor(z, {1, 4}), .offset = 5, .pairs = RopePairs::halves},
            s);
       expect(y[0] == z[0] && y[1] == z[2] && y[2] == z[1] && y[3] == z[3], "they differ");
     }},
    {"products of queries and keys depend on the distance of their positions alone, lengths stay",
     [](Stream& s) {
       constexpr int d = 16;
       std::vector<double> q(d), k(d), at_q(d), at_k(d);
       for (int i = 0; i < d; ++i)
         q[std::size_t(i)] = std::sin(i + 1.0), k[std::size_t(i)] = std::cos(3.0 * i);
       const auto product = [&](std::int64_t of_q, std::int64_t of_k) {
         call(rope_encoding,
              {.x = tensor(q.data(), {1, d}), .y = tensor(at_q.data(), {1, d}), .offset = of_q}, s);
         call(rope_encoding,
              {.x = tensor(k.data(), {1, d}), .y = tensor(at_k.data(), {1, d}), .offset = of_k}, s);
         double sum = 0, before = 0, after = 0;
         for (std::size_t i = 0; i < d; ++i)
           sum += at_q[i] * at_k[i], before += q[i] * q[i], after += at_q[i] * at_q[i];
         expect_near(after, before, 1e-13, "length");
         return sum;
       };
       expect_near(product(1007, 1000), product(7, 0), 1e-11, "not of the distance alone");
     }},
    {"a position beyond 2^24 is right in f32",
     [](Stream& s) {
       float x[] = {1, 0}, y[2] = {};
       call(rope_encoding, {.x = tensor(x, {1, 2}), .y = tensor(y, {1, 2}), .offset = (1ll << 30) + 1}, s);
       expect_near(double(y[0]), std::cos(double((1ll << 30) + 1)), 1e-7, "cos");
     }},
    {"an odd number of columns is refused",
     [](Stream& s) {
       double x[3] = {}, y[3] = {};
       expect_invalid(
           [&] {
             call(rope_encoding, {.x = tensor(x, {1, 3}), .y = tensor(y, {1, 3})}, s);
           },
           "rope_encoding: the last dimension of x must be even");
     }},
};

}  // namespace

extern constinit const Oracle<A> rope_encoding_oracle{rope_encoding, expected, facts};

}  // namespace kolmo::check
