#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"

#include "kolmo/base/permutation.hpp"
#include "kolmo/check/ksg_oracle.hpp"
#include "kolmo/check/oracle.hpp"

namespace kolmo::check {
namespace {

using Args = KsgConditionalMutualInformationArgs;

/// Rows [begin, end) of the last two dimensions of t, of its alternative b when there are three.
template <class T>
Rows<T> rows_of(const Tensor& t, std::int64_t b, std::int64_t begin, std::int64_t end) {
  Rows<T> all(std::size_t(end - begin));
  if (!t.given()) return all;
  const std::int64_t d = t.extent[std::size_t(t.rank - 1)], n = t.extent[std::size_t(t.rank - 2)];
  for (std::int64_t i = begin; i < end; ++i)
    for (std::int64_t c = 0; c < d; ++c)
      all[std::size_t(i - begin)].push_back(T(get(t, (b * n + i) * d + c)));
  return all;
}

std::int64_t square_root(std::int64_t n) {
  std::int64_t r = 0;
  while ((r + 1) * (r + 1) <= n) ++r;
  return r;
}

template <class T>
void expected_in(const Args& a) {
  const std::int64_t n = a.y.extent[0], b = a.x.extent[0],
                     t = a.segments.given() ? a.segments.extent[0] - 1 : 1;
  for (std::int64_t p = 0; p < t; ++p) {
    const std::int64_t begin = a.segments.given() ? std::int64_t(get(a.segments, p)) : 0;
    const std::int64_t end = a.segments.given() ? std::int64_t(get(a.segments, p + 1)) : n, m = end - begin;
    KsgSettings settings{a.k, a.theiler, a.algorithm, {}};
    if (a.set.given())
      for (std::int64_t i = begin; i < end; ++i) settings.set.push_back(std::int32_t(get(a.set, i)));
    const auto y = rows_of<T>(a.y, 0, begin, end), z = rows_of<T>(a.z, 0, begin, end);
    for (std::int64_t i = 0; i < b; ++i) {
      const auto x = rows_of<T>(a.x, i, begin, end);
      for (std::int64_t s = 0; s <= a.surrogates; ++s) {
        const std::int64_t stream = a.streams.given() ? std::int64_t(get(a.streams, p * b + i)) : p * b + i;
        const std::int64_t block = a.block_length ? std::min(a.block_length, m) : square_root(m);
        const SurrogateMap map(a.surrogate_type, std::uint32_t(m), std::uint32_t(block),
                               std::uint64_t(a.seed), std::uint64_t(stream), std::uint64_t(s));
        Rows<T> shuffled;
        for (std::uint32_t r = 0; r < std::uint32_t(m); ++r) shuffled.push_back(x[map(r)]);
        const auto local = ksg_local_values<T>(shuffled, y, z, settings);
        long double sum = 0;
        for (const long double v : local) sum += v;
        put(a.value, (p * b + i) * (1 + a.surrogates) + s, sum / static_cast<long double>(m));
        for (std::int64_t r = 0; a.local.given() && s == 0 && r < m; ++r)
          put(a.local, i * n + begin + r, local[std::size_t(r)]);
      }
    }
  }
}

void expected(const Args& a) {
  if (a.x.dtype == DType::f64)
    expected_in<double>(a);
  else
    expected_in<float>(a);
}

double estimate(Stream& s, std::vector<double> x, std::vector<double> y, std::vector<double> z,
                Args options) {
  const auto n = std::int64_t(y.size());
  double value[1] = {};
  options.x = tensor(x.data(), {1, n, 1}), options.y = tensor(y.data(), {n, 1});
  if (!z.empty()) options.z = tensor(z.data(), {n, 1});
  options.value = tensor(value, {1, 1, 1});
  call(ksg_conditional_mutual_information, options, s);
  return value[0];
}

constexpr Fact facts[] = {
    // Points 0, 1, 3, 7 on the diagonal, k = 1: distances to the nearest 1, 1, 2, 4. Strictly nearer in x,
    // and in
    // y: none, none, none, none. So every count is 0: I = psi(1) + psi(4) - 2 psi(1) = 11/6.
    {"four points on a line: ksg1 I = 11/6",
     [](Stream& s) {
       expect_near(estimate(s, {0, 1, 3, 7}, {0, 1, 3, 7}, {}, {.k = 1}), 11. / 6, 1e-15, "I");
     }},
    // ksg2: one neighbour within in x and in y: I = psi(1) - 1 + psi(4) - 2 psi(1) = 11/6 - 1, but point 1
    // has 0
    // at 1 and 3 at 2, point 3 has 1 at 2 (0 at 3), point 7 has 3 at 4: all counts are 1.
    {"four points on a line: ksg2 I = 5/6",
     [](Stream& s) {
       const double v =
           estimate(s, {0, 1, 3, 7}, {0, 1, 3, 7}, {}, {.k = 1, .algorithm = KsgAlgorithm::ksg2});
       expect_near(v, 5. / 6, 1e-15, "I");
     }},
    // A constant condition is no condition: n_z = n - 1 everywhere, so ksg1 gives I(x;y), up to one rounding.
    {"a constant condition changes nothing",
     [](Stream& s) {
       const std::vector<double> x{0.3, 1.7, -2.2, 0.9, 4.1, -0.5}, y{1.1, 0.2, -1.3, 2.8, 3.3, 0.4};
       expect_near(estimate(s, x, y, std::vector<double>(6, 5.0), {.k = 2}), estimate(s, x, y, {}, {.k = 2}),
                   1e-15, "I(x;y|constant)");
     }},
    // All points equal: every distance is 0, nothing is strictly nearer: I = psi(k) + psi(n) - 2 psi(1).
    {"equal points: all counts are 0",
     [](Stream& s) {
       expect_near(estimate(s, {1, 1, 1, 1}, {2, 2, 2, 2}, {}, {.k = 2}), 1 + 11. / 6, 1e-15, "I");
     }},
    {"too few rows are refused",
     [](Stream& s) {
       expect_invalid(
           [&] {
             estimate(s, {1, 2, 3, 4}, {1, 2, 3, 4}, {}, {.k = 4});
           },
           "4 rows are too few for k = 4");
     }},
};

}  // namespace

extern constinit const Oracle<Args> ksg_conditional_mutual_information_oracle{
    ksg_conditional_mutual_information, expected, facts};

}  // namespace kolmo::check
