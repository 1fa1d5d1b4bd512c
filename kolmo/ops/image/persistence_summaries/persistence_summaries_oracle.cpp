#include <algorithm>
#include <cmath>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/image/persistence_summaries/persistence_summaries.hpp"

namespace kolmo::check {
namespace {

/// Calls f(b, d) for the pairs of a batch entry.
template <class F>
void each_pair(const Tensor& pairs, const Tensor& count, std::int64_t entry, const F& f) {
  const std::int64_t n = pairs.dim(-2), most = count.given() ? std::int64_t(get(count, entry)) : n;
  for (std::int64_t i = entry * n; i < entry * n + std::min(n, most); ++i)
    f(get(pairs, 2 * i), get(pairs, 2 * i + 1));
}

void curves(const BettiCurveArgs& a) {
  const std::int64_t k = a.thresholds.size();
  for (std::int64_t i = 0; i < a.betti.size(); ++i) {
    const long double t = get(a.thresholds, i % k);
    std::int64_t alive = 0;
    each_pair(a.pairs, a.count, i / k, [&](auto b, auto d) { alive += b <= t && d > t; });
    a.betti.as<std::int64_t>()[i] = alive;
  }
}

void images(const PersistenceImageArgs& a) {
  const long double pi = 3.141592653589793238462643383279502884L, sigma = a.sigma;
  const auto low = static_cast<long double>(a.birth_low), high = static_cast<long double>(a.birth_high);
  for (std::int64_t at = 0; at < a.image.size(); ++at) {
    const std::int64_t j = at % a.width, i = at / a.width % a.height;
    const long double x = low + (high - low) * (2 * j + 1) / static_cast<long double>(2 * a.width),
                      y = static_cast<long double>(a.persistence_high) * (2 * i + 1) /
                          static_cast<long double>(2 * a.height);
    long double sum = 0;
    each_pair(a.pairs, a.count, at / a.width / a.height, [&](auto b, auto d) {
      if (std::isinf(d - b)) return;
      const long double r = std::hypot(b - x, d - b - y) / sigma;
      sum += (a.weight == PairWeight::one ? 1 : d - b) * std::exp(-r * r / 2) / (2 * pi * sigma * sigma);
    });
    put(a.image, at, sum);
  }
}

constexpr Fact curve_facts[] = {
    {"alive from birth on, until before death; one that never dies",
     [](Stream& s) {
       double pairs[] = {0, HUGE_VAL, 1, 2, 1, 3}, t[] = {3, -1, 0, 1, 2};
       std::int64_t betti[5] = {}, count = 2;
       BettiCurveArgs a;
       a.pairs = tensor(pairs, {3, 2}), a.thresholds = tensor(t, {5}), a.betti = tensor(betti, {5});
       call(betti_curve, a, s);
       expect(std::ranges::equal(betti, std::array{1, 0, 1, 3, 2}), "three pairs");
       a.count = tensor(&count, {});
       call(betti_curve, a, s);
       expect(std::ranges::equal(betti, std::array{1, 0, 1, 2, 1}), "two pairs");
       count = 0;
       call(betti_curve, a, s);
       expect(std::ranges::equal(betti, std::array{0, 0, 0, 0, 0}), "none");
     }},
};
constexpr Fact image_facts[] = {
    {"a pair at the centre of a cell has density l / (2 pi sigma^2), and the whole sums to l over the area",
     [](Stream& s) {
       double pairs[] = {0.5, 1.0}, cell[25 * 25] = {};
       PersistenceImageArgs a;
       a.pairs = tensor(pairs, {1, 2}), a.image = tensor(cell, {25, 25});
       a.height = a.width = 25, a.sigma = 0.1;
       call(persistence_image, a, s);
       expect_near(cell[12 * 25 + 12], 0.5 / (2 * M_PI * 0.01), 1e-13, "centre");
       double sum = 0;
       for (const double v : cell) sum += v / 625;
       expect_near(sum, 0.5, 1e-6, "5 sigma are within the image");
       expect(cell[12 * 25 + 14] > cell[12 * 25 + 15] && cell[15 * 25 + 12] == cell[9 * 25 + 12], "shape");
     }},
    {"rows are persistence and columns birth; pairs that never die are left out; options are checked",
     [](Stream& s) {
       double pairs[] = {0.75, 1.0, 0, HUGE_VAL}, cell[4] = {};
       PersistenceImageArgs a;
       a.pairs = tensor(pairs, {2, 2}), a.image = tensor(cell, {2, 2});
       a.height = a.width = 2;
       call(persistence_image, a, s);
       expect(cell[1] > 3.9 && cell[0] < 1e-4 && cell[2] < 1e-4, "layout");
       a.sigma = 0;
       expect_invalid([&] { call(persistence_image, a, s); }, "sigma must be");
       a.sigma = 1, a.birth_low = 1;
       expect_invalid([&] { call(persistence_image, a, s); }, "birth_low must be below birth_high");
     }},
};

}  // namespace

extern constinit const Oracle<BettiCurveArgs> betti_curve_oracle{betti_curve, curves, curve_facts};
extern constinit const Oracle<PersistenceImageArgs> persistence_image_oracle{persistence_image, images,
                                                                             image_facts};

}  // namespace kolmo::check
