#include "kolmo/ops/image/persistence_summaries/persistence_summaries.hpp"

#include <cmath>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/image/persistence_summaries/summary_terms.hpp"
#include "kolmo/skeleton/row_sum_cpu.hpp"

namespace kolmo {
namespace {

/// Draws pairs whose births and lives are multiples of 1/8, so that some coincide with thresholds. One pair
/// never dies.
template <class Args>
void draw_pairs(Args& a, CaseRandom& random) {
  visit<double, float>(a.pairs.dtype, [&]<class T> {
    T* const p = a.pairs.template as<T>();
    for (std::int64_t i = 0; i < a.pairs.size(); i += 2) {
      p[i] = T(double(random.below(16)) / 8);
      p[i + 1] = i == 4 ? T(unlimited) : T(double(p[i]) + double(1 + random.below(9)) / 8);
    }
  });
}
void draw_curve(BettiCurveArgs& a, CaseRandom& random) {
  draw_pairs(a, random);
  visit<double, float>(a.pairs.dtype, [&]<class T> {
    for (std::int64_t i = 0; i < a.thresholds.size(); ++i)
      a.thresholds.as<T>()[i] = T(double(random.below(40)) / 16);
  });
}

constexpr Case<BettiCurveArgs> curves[] = {
    {.name = "one pair", .sizes = {{"...", 1}, {"n", 1}, {"k", 1}}},
    {.name = "3 of 33 pairs f64",
     .sizes = {{"...", 3}, {"n", 33}, {"k", 17}},
     .optional = "count",
     .draw = draw_curve},
    {.name = "2100 pairs f32",
     .sizes = {{"...", 1}, {"n", 2100}, {"k", 9}},
     .dtype = DType::f32,
     .draw = draw_curve},
    {.name = "2^20 pairs f32, 100 thresholds",
     .sizes = {{"...", 1}, {"n", 1 << 20}, {"k", 100}},
     .dtype = DType::f32,
     .benchmark_only = true},
};

void check(const PersistenceImageArgs& a) {
  require(std::isfinite(a.birth_low) && std::isfinite(a.birth_high) && a.birth_low < a.birth_high,
          "persistence_image: birth_low must be below birth_high, and both finite");
  require(a.persistence_high > 0 && std::isfinite(a.persistence_high),
          "persistence_image: persistence_high must be above 0 and finite");
  require(a.sigma > 0 && a.sigma >= 1e-150 && a.sigma <= 1e150,
          "persistence_image: sigma must be between 1e-150 and 1e150");
}

// The exponent, below 2 (3 / 0.4)^2 = 113 here, has 5 roundings of 2^-53 and the errors of differences of
// numbers below 4. The exponential, 6 products and a sum of positive terms add less than 50.
constexpr double f64 = 2000 * 0x1p-53;
constexpr Case<PersistenceImageArgs> images[] = {
    {.name = "one pair, one cell",
     .sizes = {{"...", 1}, {"n", 1}, {"height", 1}, {"width", 1}},
     .tolerance = relative(f64),
     .setup = [](PersistenceImageArgs& a) { a.sigma = 0.4; },
     .draw = draw_pairs<PersistenceImageArgs>},
    {.name = "3 of 50 pairs f64, 7 x 9",
     .sizes = {{"...", 3}, {"n", 50}, {"height", 7}, {"width", 9}},
     .tolerance = relative(f64),
     .optional = "count",
     .setup = [](PersistenceImageArgs& a) { a.birth_low = -0.5, a.persistence_high = 2, a.sigma = 0.4; },
     .draw = draw_pairs<PersistenceImageArgs>},
    {.name = "2100 pairs f32, 3 x 5, weight one",
     .sizes = {{"...", 1}, {"n", 2100}, {"height", 3}, {"width", 5}},
     .dtype = DType::f32,
     .tolerance = relative(0x1p-23),
     .setup = [](PersistenceImageArgs& a) { a.weight = PairWeight::one, a.sigma = 0.5; },
     .draw = draw_pairs<PersistenceImageArgs>},
    {.name = "64 of 10^4 pairs f32, 20 x 20",
     .sizes = {{"...", 64}, {"n", 10000}, {"height", 20}, {"width", 20}},
     .dtype = DType::f32,
     .benchmark_only = true},
};

constinit const Definition<BettiCurveArgs> curve{
    {.name = "betti_curve",
     .summary = "betti_j = number of pairs with birth <= t_j < death",
     .source = "Edelsbrunner & Harer 2010",
     .determinism = Determinism::everywhere},
    // A pair takes two comparisons and a sum for each threshold.
    {.flops = [](const BettiCurveArgs& a) { return 3.0 * double(a.betti.size()) * double(a.pairs.dim(-2)); },
     .cases = curves}};
constinit const Definition<PersistenceImageArgs> image{
    {.name = "persistence_image",
     .summary = "image_ij = sum over pairs of w(d - b) N(b - x_j, d - b - y_i; sigma)",
     .source = "Adams et al. 2017",
     .determinism = Determinism::everywhere},
    // A pair takes an exponential of 25 operations and 10 more for each cell.
    {.check = check,
     .flops =
         [](const PersistenceImageArgs& a) {
           return 35.0 * double(a.image.size()) * double(a.pairs.dim(-2));
         },
     .cases = images}};

}  // namespace

constinit const Op<BettiCurveArgs> betti_curve{curve};
constinit const Op<PersistenceImageArgs> persistence_image{image};
extern constinit const Impl<BettiCurveArgs> betti_curve_cpu = cpu::row_sum<BettiCurve>();
extern constinit const Impl<PersistenceImageArgs> persistence_image_cpu = cpu::row_sum<PersistenceImage>();

}  // namespace kolmo
