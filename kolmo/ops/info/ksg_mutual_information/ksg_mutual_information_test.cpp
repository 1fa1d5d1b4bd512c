#include "kolmo/ops/info/ksg_mutual_information/ksg_mutual_information.hpp"

#include "kolmo/base/permutation.hpp"
#include "kolmo/check/ksg_oracle.hpp"
#include "kolmo/check/oracle.hpp"

namespace kolmo::check {
namespace {

using Args = KsgMutualInformationArgs;

template <class T>
Rows<T> rows_of(const Tensor& t, std::int64_t b, std::int64_t n, std::int64_t d) {
  Rows<T> all(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n * d; ++i) all[std::size_t(i / d)].push_back(T(get(t, b * n * d + i)));
  return all;
}

template <class T>
void expected_in(const Args& a) {
  const std::int64_t n = a.y.extent[0], dx = a.x.extent[2], e = 1 + a.surrogates;
  KsgSettings settings{a.k, a.theiler, a.algorithm, {}};
  if (a.set.given())
    for (std::int64_t i = 0; i < n; ++i) settings.set.push_back(std::int32_t(get(a.set, i)));
  const auto y = rows_of<T>(a.y, 0, n, a.y.extent[1]);
  for (std::int64_t b = 0; b < a.x.extent[0]; ++b) {
    const auto x = rows_of<T>(a.x, b, n, dx);
    for (std::int64_t s = 0; s < e; ++s) {
      const SurrogateMap map(a.surrogate_type, std::uint32_t(n), 1, std::uint64_t(a.seed), std::uint64_t(b),
                             std::uint64_t(s));
      Rows<T> shuffled;
      for (std::uint32_t r = 0; r < std::uint32_t(n); ++r) shuffled.push_back(x[map(r)]);
      const auto local = ksg_local_values<T>(shuffled, y, Rows<T>(std::size_t(n)), settings);
      long double sum = 0;
      for (const long double v : local) sum += v;
      put(a.value, b * e + s, sum / static_cast<long double>(n));
      for (std::int64_t r = 0; a.local.given() && s == 0 && r < n; ++r)
        put(a.local, b * n + r, local[std::size_t(r)]);
    }
  }
}

void expected(const Args& a) {
  if (a.x.dtype == DType::f64)
    expected_in<double>(a);
  else
    expected_in<float>(a);
}

constexpr Fact facts[] = {
    // The third neighbour is two steps away (three at the ends), and two points are strictly nearer, in x as
    // in y:
    // I = psi(3) + psi(100) - 2 psi(3). (2.5207 is what a Euclidean joint distance gives.)
    {"linspace(0, 1, 100) against itself",
     [](Stream& s) {
       double x[100], value[1];
       for (int i = 0; i < 100; ++i) x[i] = i / 99.0;
       call(ksg_mutual_information,
            {.x = tensor(x, {1, 100, 1}), .y = tensor(x, {100, 1}), .value = tensor(value, {1, 1}), .k = 3},
            s);
       expect_near(value[0], 3.6773775176396203, 1e-14, "I");
     }},
    {"swapping x and y changes no bit",
     [](Stream& s) {
       double x[] = {0.1, 2.3, -1.2, 0.7, 3.1, 0.2, -0.4}, y[] = {1.0, 2.1, -0.3, 0.4, 2.2, -1.5, 0.6}, a[1],
              b[1];
       call(ksg_mutual_information,
            {.x = tensor(x, {1, 7, 1}), .y = tensor(y, {7, 1}), .value = tensor(a, {1, 1}), .k = 2}, s);
       call(ksg_mutual_information,
            {.x = tensor(y, {1, 7, 1}), .y = tensor(x, {7, 1}), .value = tensor(b, {1, 1}), .k = 2}, s);
       expect(a[0] == b[0], "I(x;y) != I(y;x)");
     }},
};

}  // namespace

extern constinit const Oracle<Args> ksg_mutual_information_oracle{ksg_mutual_information, expected, facts};

}  // namespace kolmo::check
