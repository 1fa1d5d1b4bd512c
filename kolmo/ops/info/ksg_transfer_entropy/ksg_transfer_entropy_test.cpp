#include "kolmo/ops/info/ksg_transfer_entropy/ksg_transfer_entropy.hpp"

#include "kolmo/base/permutation.hpp"
#include "kolmo/check/ksg_oracle.hpp"
#include "kolmo/check/oracle.hpp"

namespace kolmo::check {
namespace {

using Args = KsgTransferEntropyArgs;

template <class T>
void expected_in(const Args& a) {
  const std::int64_t trials = a.target.extent[0], n = a.target.extent[1], e = 1 + a.surrogates;
  const std::int64_t g = a.given.given() ? a.given.extent[0] : 0;
  for (std::int64_t b = 0; b < a.source.extent[0]; ++b) {
    Rows<T> x, y, z;
    KsgSettings settings{a.k, a.theiler, a.algorithm, {}};
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
        settings.set.push_back(std::int32_t(r));
      }
    }
    const auto m = std::uint32_t(y.size());
    for (std::int64_t s = 0; s < e; ++s) {
      const SurrogateMap map(a.surrogate_type, m, 1, std::uint64_t(a.seed), std::uint64_t(b),
                             std::uint64_t(s));
      Rows<T> shuffled;
      for (std::uint32_t i = 0; i < m; ++i) shuffled.push_back(x[map(i)]);
      const auto local = ksg_local_values<T>(shuffled, y, z, settings);
      long double sum = 0;
      for (const long double v : local) sum += v;
      put(a.value, b * e + s, sum / static_cast<long double>(m));
      for (std::uint32_t i = 0; a.local.given() && s == 0 && i < m; ++i) put(a.local, b * m + i, local[i]);
    }
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
};

}  // namespace

extern constinit const Oracle<Args> ksg_transfer_entropy_oracle{ksg_transfer_entropy, expected, facts};

}  // namespace kolmo::check
