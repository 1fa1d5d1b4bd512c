#include "kolmo/check/oracle.hpp"
#include "kolmo/knn/ksg_oracle.hpp"
#include "kolmo/ops/info/ksg_transfer_entropy/ksg_transfer_entropy.hpp"

namespace kolmo::check {
namespace {

using Args = KsgTransferEntropyArgs;

template <class T>
void expected_in(const Args& a) {
  const std::int64_t trials = a.target.dim(0), n = a.target.dim(1), g = a.given.given() ? a.given.dim(0) : 0;
  for (std::int64_t b = 0; b < a.source.dim(0); ++b) {
    Rows<T> x, y, z;
    KsgSettings settings;
    copy_ksg_options(settings, a);
    for (std::int64_t r = 0; r < trials; ++r) {
      for (std::int64_t t = 0; t < n; ++t) {
        const std::int64_t oldest_target = t - 1 - (a.history - 1) * a.tau;
        const std::int64_t oldest_source = t - a.lag - (a.source_history - 1) * a.source_tau;
        if (oldest_target < 0 || oldest_source < 0) continue;
        y.push_back({T(get(a.target, r * n + t))});
        z.emplace_back(), x.emplace_back();
        for (std::int64_t i = 0; i < a.history; ++i)
          z.back().push_back(T(get(a.target, r * n + t - 1 - i * a.tau)));
        for (std::int64_t i = 0; i < g; ++i)
          z.back().push_back(T(get(a.given, (i * trials + r) * n + t - 1)));
        for (std::int64_t j = 0; j < a.source_history; ++j)
          x.back().push_back(T(get(a.source, (b * trials + r) * n + t - a.lag - j * a.source_tau)));
        settings.time.push_back(r * (n + a.theiler) + t);
      }
    }
    const KsgEstimates e = ksg_estimates<T>(x, y, z, settings, b);
    for (std::size_t s = 0; s < e.values.size(); ++s)
      put(a.value, b * (1 + a.surrogates) + std::int64_t(s), e.values[s]);
    const auto m = std::int64_t(e.local.size());
    for (std::int64_t i = 0; a.local.given() && i < m; ++i) put(a.local, b * m + i, e.local[std::size_t(i)]);
  }
}

void expected(const Args& a) {
  if (a.source.dtype == DType::f64)
    expected_in<double>(a);
  else
    expected_in<float>(a);
}

constexpr Fact facts[] = {
    {"an embedding longer than the series is refused",
     [](Stream& s) {
       double x[8] = {}, value[1];
       expect_invalid(
           [&] {
             call(ksg_transfer_entropy,
                  {.source = tensor(x, {1, 1, 8}),
                   .target = tensor(x, {1, 8}),
                   .value = tensor(value, {1, 1}),
                   .lag = 9},
                  s);
           },
           "ksg_transfer_entropy: n = 8 samples, but the embedding reaches 9 steps back");
     }},
    {"a value that is not finite is reported by its place in the series",
     [](Stream& s) {
       double x[] = {1, 5, 2, 4, 3, 6, 0, 7}, y[] = {1, 2, 3, 4, std::nan(""), 6, 7, 8}, value[1];
       const auto run = [&](double* source, double* target) {
         call(ksg_transfer_entropy,
              {.source = tensor(source, {1, 1, 8}),
               .target = tensor(target, {1, 8}),
               .value = tensor(value, {1, 1}),
               .k = 1},
              s);
       };
       expect_invalid([&] { run(x, y); }, "ksg_transfer_entropy: target is not finite at element 4");
       expect_invalid([&] { run(y, x); }, "ksg_transfer_entropy: source is not finite at element 4");
     }},
};

}  // namespace

extern constinit const Oracle<Args> ksg_transfer_entropy_oracle{ksg_transfer_entropy, expected, facts};

}  // namespace kolmo::check
