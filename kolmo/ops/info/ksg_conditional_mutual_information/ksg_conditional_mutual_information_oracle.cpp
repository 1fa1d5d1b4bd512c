#include "kolmo/check/oracle.hpp"
#include "kolmo/knn/ksg_oracle.hpp"
#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"

namespace kolmo::check {
namespace {

using Args = KsgConditionalMutualInformationArgs;

template <class T>
void expected_in(const Args& a) {
  const std::int64_t n = a.y.dim(0), b = a.x.dim(0), t = a.segments.given() ? a.segments.dim(0) - 1 : 1;
  KsgSettings settings;
  copy_ksg_options(settings, a);
  settings.first = a.first;
  for (std::int64_t p = 0; p < t; ++p) {
    const std::int64_t begin = a.segments.given() ? std::int64_t(get(a.segments, p)) : 0;
    const std::int64_t end = a.segments.given() ? std::int64_t(get(a.segments, p + 1)) : n;
    settings.time.clear();
    for (std::int64_t i = begin; a.time.given() && i < end; ++i)
      settings.time.push_back(std::int64_t(get(a.time, i)));
    const auto y = rows_of<T>(a.y, 0, begin, end), z = rows_of<T>(a.z, 0, begin, end);
    for (std::int64_t i = 0; i < b; ++i) {
      const std::int64_t stream = a.streams.given() ? std::int64_t(get(a.streams, p * b + i)) : p * b + i;
      if (a.min_shifts.given()) settings.min_shift = std::int64_t(get(a.min_shifts, p * b + i));
      const KsgEstimates e = ksg_estimates<T>(rows_of<T>(a.x, i, begin, end), y, z, settings, stream);
      for (std::size_t s = 0; s < e.values.size(); ++s)
        put(a.value, (p * b + i) * (1 + a.surrogates) + std::int64_t(s), e.values[s]);
      for (std::int64_t r = begin; a.local.given() && r < end; ++r)
        put(a.local, i * n + r, e.local[std::size_t(r - begin)]);
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
    // Points 0, 1, 3, 7 on the diagonal, k = 1: the distances to the nearest are 1, 1, 2 and 4. No point is
    // strictly nearer in x or in y, so every count is 0: I = psi(1) + psi(4) - 2 psi(1) = 11/6.
    {"four points on a line: ksg1 I = 11/6",
     [](Stream& s) {
       expect_near(estimate(s, {0, 1, 3, 7}, {0, 1, 3, 7}, {}, {.k = 1}), 11. / 6, 1e-15, "I");
     }},
    // ksg2 counts the neighbour itself: every point has one other within its distance in x and in y (0 has 1,
    // 1 has 0, 3 has 1, 7 has 3). I = psi(1) - 1 + psi(4) - 2 psi(1) = 11/6 - 1.
    {"four points on a line: ksg2 I = 5/6",
     [](Stream& s) {
       const double v =
           estimate(s, {0, 1, 3, 7}, {0, 1, 3, 7}, {}, {.k = 1, .algorithm = KsgAlgorithm::ksg2});
       expect_near(v, 5. / 6, 1e-15, "I");
     }},
    // A constant condition has no effect: n_z = n - 1 everywhere, so ksg1 gives I(x;y), up to one rounding.
    {"a constant condition changes nothing",
     [](Stream& s) {
       const std::vector<double> x{0.3, 1.7, -2.2, 0.9, 4.1, -0.5}, y{1.1, 0.2, -1.3, 2.8, 3.3, 0.4};
       expect_near(estimate(s, x, y, std::vector<double>(6, 5.0), {.k = 2}), estimate(s, x, y, {}, {.k = 2}),
                   1e-15, "I(x;y|constant)");
     }},
    // All points are equal, so every distance is 0 and nothing is strictly nearer: I = psi(k) + psi(n) - 2
    // psi(1).
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
    {"the first value that is not finite is reported, of x before y",
     [](Stream& s) {
       const double nan = std::nan("");
       expect_invalid(
           [&] {
             estimate(s, {1, 2, nan, 4, 5, nan}, {1, nan, 3, 4, 5, 6}, {}, {.k = 1});
           },
           "ksg_conditional_mutual_information: x is not finite at element 2");
       expect_invalid(
           [&] {
             estimate(s, {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 1 / 0., 6}, {}, {.k = 1});
           },
           "y is not finite at element 4");
       expect_invalid(
           [&] {
             estimate(s, {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, nan}, {.k = 1});
           },
           "z is not finite at element 5");
       expect_near(estimate(s, {0, 1, 3, 7}, {0, 1, 3, 7}, {}, {.k = 1}), 11. / 6, 1e-15, "the next call");
     }},
    {"wrong segments are reported; only the estimates of problems at fault are NaN",
     [](Stream& s) {
       double x[] = {0, 1, 3, 7, 0, 1, 3, 7, 0, 1}, value[3];
       const auto run = [&](std::vector<std::int64_t> segments) {
         call(ksg_conditional_mutual_information,
              {.x = tensor(x, {1, 10, 1}),
               .y = tensor(x, {10, 1}),
               .segments = tensor(segments.data(), {4}),
               .value = tensor(value, {3, 1, 1}),
               .k = 1},
              s);
       };
       expect_invalid([&] { run({0, 4, 3, 10}); }, "segments do not climb from 0 to n at element 1");
       expect_invalid([&] { run({1, 4, 8, 10}); }, "segments do not climb from 0 to n at element 0");
       expect_invalid([&] { run({0, 4, 8, std::int64_t(1) << 60}); }, "segments do not climb from 0 to n at");
       expect_invalid(
           [&] {
             run({0, 4, 9, 10});
           },
           "segments leave too few rows for k and theiler at element 2");
       s.check_data(false);
       run({0, 4, 9, 10});
       s.check_data(true);
       expect_near(value[0], 11. / 6, 1e-15, "I");
       expect(value[1] == value[1] && std::isnan(value[2]), "wrong problems are NaN");
     }},
};

}  // namespace

extern constinit const Oracle<Args> ksg_conditional_mutual_information_oracle{
    ksg_conditional_mutual_information, expected, facts};

}  // namespace kolmo::check
