#include <cmath>
#include <vector>

#include "kolmo/check/reference.hpp"
#include "kolmo/ops/random/categorical_sample/categorical_sample.hpp"
#include "kolmo/ops/random/random_uniform/random_uniform.hpp"

namespace kolmo::check {
namespace {
using A = CategoricalSampleArgs;

void expected(const A& a) {
  const std::int64_t k = a.weight.dim(-1);
  for (std::int64_t i = 0; i < a.index.size(); ++i) {
    const std::int64_t row = i / a.n;
    const auto u =
        std::ldexp(static_cast<long double>(philox64(a.seed, std::uint64_t(a.offset + i)) >> 11), -53);
    long double total = 0, sum = 0;
    for (std::int64_t j = 0; j < k; ++j) total += get(a.weight, row * k + j);
    std::int64_t drawn = 0;
    for (; drawn < k; ++drawn)
      if (sum += get(a.weight, row * k + drawn); sum > u * total) break;
    a.index.as<std::int64_t>()[i] = drawn;
  }
}

std::vector<std::int64_t> draws(std::vector<double> weight, std::int64_t n, Stream& s,
                                std::int64_t offset = 0) {
  std::vector<std::int64_t> index(std::size_t(n), -7);
  call(categorical_sample,
       {.weight = tensor(weight.data(), {std::int64_t(weight.size())}),
        .index = tensor(index.data(), {n}),
        .n = n,
        .offset = offset,
        .seed = 4},
       s);
  return index;
}

/// Draws once from each of 400 rows of k weights. All weights are -0, except the one at place(row), which is
/// `weight`.
template <class Place>
std::vector<std::int64_t> draws_of_rows(std::int64_t k, float weight, const Place& place, Stream& s) {
  constexpr std::int64_t rows = 400;
  std::vector<float> weights(std::size_t(rows * k), -0.f);
  for (std::int64_t r = 0; r < rows; ++r) weights[std::size_t(r * k + place(r))] = weight;
  std::vector<std::int64_t> index(std::size_t(rows), -7);
  call(categorical_sample,
       {.weight = tensor(weights.data(), {rows, k}), .index = tensor(index.data(), {rows, 1})}, s);
  return index;
}

constexpr Fact facts[] = {
    {"a weight of 0 is never drawn, the only other always",
     [](Stream& s) {
       for (const std::int64_t i : draws({0, 0, 5e-300, 0}, 1000, s)) expect(i == 2, "another");
     }},
    {"100000 draws from (1, 2, 0, 3, 4): chi-square below the 0.1 % point",
     [](Stream& s) {
       const double p[] = {0.1, 0.2, 0, 0.3, 0.4};
       double count[5] = {}, chi_square = 0;
       for (const std::int64_t i : draws({1, 2, 0, 3, 4}, 100000, s)) ++count[i];
       expect(count[2] == 0, "drawn with probability 0");
       for (const int i : {0, 1, 3, 4}) chi_square += std::pow(count[i] - p[i] * 1e5, 2) / (p[i] * 1e5);
       expect(chi_square < 16.27, "chi-square with 3 degrees of freedom is " + std::to_string(chi_square));
     }},
    {"the draw follows the number of random_uniform to its last bit",
     [](Stream& s) {
       double u[2];
       call(random_uniform, {.values = tensor(u, {2}), .n = 2, .seed = 4}, s);
       for (const int e : {0, 1}) {
         const double above = u[e] + 0x1p-53;
         expect(draws({u[e], 1 - u[e]}, 1, s, e)[0] == 1, "u itself belongs to the second");
         expect(draws({above, 1 - above}, 1, s, e)[0] == 0, "the number above u belongs to the first");
       }
     }},
    {"neighbouring offsets continue the sequence; weights need no sum of 1",
     [](Stream& s) {
       const auto all = draws({0.25, 0.25, 0.5}, 100, s), rest = draws({1e10, 1e10, 2e10}, 63, s, 37);
       expect(std::vector<std::int64_t>(all.begin() + 37, all.end()) == rest, "another sequence");
     }},
    {"of long rows too a weight of 0 is never drawn, be the other the first or the last",
     [](Stream& s) {
       for (const std::int64_t k : {8192, 8197}) {
         const auto place = [&](std::int64_t r) { return r % 3 ? k - 1 - r % 7 : r % 7; };
         const auto drawn = draws_of_rows(k, 1e-30f, place, s);
         for (std::int64_t r = 0; r < 400; ++r) expect(drawn[std::size_t(r)] == place(r), "another");
       }
     }},
    {"sums of blocks are added one after the other: what is lost next to the number u stays lost",
     [](Stream& s) {
       constexpr std::int64_t k = 4096, last = k - 1;
       for (const std::int64_t rows : {3, 140}) {
         std::vector<double> u(std::size_t(rows), 0), weights(std::size_t(rows * k), 0);
         call(random_uniform, {.values = tensor(u.data(), {rows}), .n = rows, .seed = 4}, s);
         for (std::int64_t r = 0; r < rows; ++r) {
           double* const weight = weights.data() + r * k;
           weight[0] = u[std::size_t(r)], weight[last] = 1 - weight[0];
           for (std::int64_t i = 64; i < last - 64; i += 64) weight[i] = weight[0] * 0x1p-55;
         }
         std::vector<std::int64_t> index(std::size_t(rows), -7);
         call(categorical_sample,
              {.weight = tensor(weights.data(), {rows, k}),
               .index = tensor(index.data(), {rows, 1}),
               .seed = 4},
              s);
         for (const std::int64_t i : index) expect(i == last, "drawn for what was lost");
       }
     }},
    {"of long rows too faults are found at the end, and sums of 0",
     [](Stream& s) {
       const auto last = [](std::int64_t r) { return 8196 - r; };
       expect_invalid([&] { draws_of_rows(8197, -1, last, s); },
                      "weight is negative or not finite at element 8196");
       expect_invalid([&] { draws_of_rows(8197, 0, last, s); },
                      "the sum of a row of weights is not positive or not finite at element 0");
     }},
    {"weights that are no weights are faults",
     [](Stream& s) {
       expect_invalid([&] { draws({1, -1, 3}, 2, s); }, "weight is negative or not finite at element 1");
       expect_invalid(
           [&] {
             draws({1, 1, HUGE_VAL}, 2, s);
           },
           "weight is negative or not finite at element 2");
       expect_invalid(
           [&] {
             draws({std::nan(""), 1}, 2, s);
           },
           "weight is negative or not finite at element 0");
       expect_invalid([&] { draws({0, 0}, 2, s); }, "the sum of a row of weights is not positive");
       expect_invalid([&] { draws({}, 2, s); }, "categorical_sample: weight has no categories");
     }},
};

}  // namespace

extern constinit const Oracle<A> categorical_sample_oracle{categorical_sample, expected, facts};

}  // namespace kolmo::check
