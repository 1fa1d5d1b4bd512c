#include "kolmo/check/oracle.hpp"
#include "kolmo/knn/ksg_oracle.hpp"
#include "kolmo/ops/info/ksg_mutual_information/ksg_mutual_information.hpp"

namespace kolmo::check {
namespace {

using Args = KsgMutualInformationArgs;

template <class T>
void expected_in(const Args& a) {
  const std::int64_t n = a.y.dim(0);
  KsgSettings settings;
  copy_ksg_options(settings, a);
  for (std::int64_t i = 0; a.time.given() && i < n; ++i)
    settings.time.push_back(std::int64_t(get(a.time, i)));
  const auto y = rows_of<T>(a.y, 0, 0, n);
  for (std::int64_t b = 0; b < a.x.dim(0); ++b) {
    const KsgEstimates e =
        ksg_estimates<T>(rows_of<T>(a.x, b, 0, n), y, Rows<T>(std::size_t(n)), settings, b);
    for (std::size_t s = 0; s < e.values.size(); ++s)
      put(a.value, b * (1 + a.surrogates) + std::int64_t(s), e.values[s]);
    for (std::int64_t r = 0; a.local.given() && r < n; ++r) put(a.local, b * n + r, e.local[std::size_t(r)]);
  }
}

void expected(const Args& a) {
  if (a.x.dtype == DType::f64)
    expected_in<double>(a);
  else
    expected_in<float>(a);
}

constexpr Fact facts[] = {
    // The third neighbour is two steps away (three at the ends), and two points are strictly nearer, in x and
    // in y alike: I = psi(3) + psi(100) - 2 psi(3). (A Euclidean joint distance would give 2.5207.)
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
    {"the first value that is not finite is reported",
     [](Stream& s) {
       double x[] = {1, 2, 3, 4, 5, 6}, y[] = {1, 2, 3, std::nan(""), 5, std::nan("")}, value[1];
       expect_invalid(
           [&] {
             call(ksg_mutual_information,
                  {.x = tensor(x, {1, 6, 1}), .y = tensor(y, {6, 1}), .value = tensor(value, {1, 1}), .k = 1},
                  s);
           },
           "ksg_mutual_information: y is not finite at element 3");
     }},
};

}  // namespace

extern constinit const Oracle<Args> ksg_mutual_information_oracle{ksg_mutual_information, expected, facts};

}  // namespace kolmo::check
