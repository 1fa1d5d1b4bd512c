#include "kolmo/flow/surrogate/surrogates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kolmo/base/error.hpp"
#include "tests/flow/test_series.hpp"

namespace kolmo {
namespace {

using testing_flow::normals;
using testing_flow::series_of;
using Values = std::vector<double>;
using Spectrum = std::vector<Fourier::Value>;

Spectrum by_definition(const Spectrum& x) {
  const std::size_t n = x.size();
  Spectrum y(n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t t = 0; t < n; ++t)
      y[k] += x[t] * std::polar(1.0, -2 * std::numbers::pi * double(k * t % n) / double(n));
  return y;
}

double largest_difference(const Spectrum& a, const Spectrum& b) {
  double d = 0;
  for (std::size_t i = 0; i < a.size(); ++i) d = std::max(d, std::abs(a[i] - b[i]));
  return d;
}

// A transform adds n numbers of size 1 in log(n) steps; the padded one of Bluestein is at most 4 n long. The
// tolerance follows from that.
TEST(Fourier, IsItsDefinitionForEveryLength) {
  for (const std::size_t n : {1, 2, 3, 4, 5, 6, 7, 11, 13, 60, 64, 77, 97, 100, 101, 251, 256}) {
    const Values re = normals(1, 0, n), im = normals(1, 1, n);
    Spectrum x;
    for (std::size_t t = 0; t < n; ++t) x.emplace_back(re[t], im[t]);
    const Fourier fourier(n);
    const double bound = 1e-14 * double(n);
    EXPECT_LT(largest_difference(fourier.forward(x), by_definition(x)), bound) << n;
    EXPECT_LT(largest_difference(fourier.inverse(fourier.forward(x)), x), bound) << n;
  }
}

TEST(Fourier, OfFourNumbersByHand) {
  const Spectrum y = Fourier(4).forward({1, 2, 3, 4});  // 10, -2 + 2i, -2, -2 - 2i
  EXPECT_LT(largest_difference(y, {10, {-2, 2}, -2, {-2, -2}}), 1e-15);
}

Values smooth(std::size_t n, std::int64_t number = 0) {
  Values x = normals(5, number, n);
  for (std::size_t t = 1; t < n; ++t) x[t] += 0.9 * x[t - 1];
  return x;
}

Values amplitudes(const Values& x) {
  Values a;
  for (const Fourier::Value& v : Fourier(x.size()).forward({x.begin(), x.end()})) a.push_back(std::abs(v));
  return a;
}

Values surrogate(const Values& x, SurrogateMethod method, std::int64_t number = 1, std::int64_t stream = 3) {
  const Series s = series_of({x}, {.standardize = Standardize::none});
  return SpectralSurrogates(s, {0}, method, 7).make(stream, number).values[0];
}

TEST(PhaseSurrogates, KeepTheSpectrumAndNothingElse) {
  for (const std::size_t n : {100, 101, 128}) {
    const Values x = smooth(n), y = surrogate(x, SurrogateMethod::phase);
    const Values a = amplitudes(x), b = amplitudes(y);
    for (std::size_t k = 0; k < n; ++k) EXPECT_NEAR(a[k], b[k], 1e-11);
    EXPECT_NE(x, y);
  }
}

TEST(PhaseSurrogates, KeepTheRelationOfColumns) {
  const Values x = smooth(90);
  Values twice;
  for (const double v : x) twice.push_back(2 * v + 1);
  const Series s = series_of({x, twice}, {.standardize = Standardize::none});
  const Series made = SpectralSurrogates(s, {0, 1}, SurrogateMethod::phase, 7).make(3, 1);
  for (std::size_t t = 0; t < x.size(); ++t) EXPECT_NEAR(made.values[1][t], 2 * made.values[0][t] + 1, 1e-12);
}

TEST(IaaftSurrogates, KeepTheValuesAndNearlyTheSpectrum) {
  for (const std::size_t n : {200, 211}) {
    const Values x = smooth(n), y = surrogate(x, SurrogateMethod::iaaft);
    Values sorted_x = x, sorted_y = y;
    std::sort(sorted_x.begin(), sorted_x.end()), std::sort(sorted_y.begin(), sorted_y.end());
    EXPECT_EQ(sorted_x, sorted_y);
    EXPECT_NE(x, y);
    const Values a = amplitudes(x), b = amplitudes(y);
    double off = 0, all = 0;
    for (std::size_t k = 1; k < n; ++k) off += (a[k] - b[k]) * (a[k] - b[k]), all += a[k] * a[k];
    EXPECT_LT(off, 0.01 * all);
  }
}

TEST(SpectralSurrogates, DifferByNumberAndStreamAndAreReproducible) {
  const Values x = smooth(64);
  for (const auto method : {SurrogateMethod::phase, SurrogateMethod::iaaft}) {
    EXPECT_EQ(surrogate(x, method), surrogate(x, method));
    EXPECT_NE(surrogate(x, method, 1), surrogate(x, method, 2));
    EXPECT_NE(surrogate(x, method, 1, 3), surrogate(x, method, 1, 4));
  }
}

TEST(SpectralSurrogates, OfASetKeepItsValues) {
  Values x = smooth(80);
  for (std::size_t t = 40; t < 80; ++t) x[t] += 100;
  x[40] = NAN;
  const Values y = surrogate(x, SurrogateMethod::iaaft);
  for (std::size_t t = 0; t < 80; ++t) {
    if (t == 40)
      EXPECT_TRUE(std::isnan(y[t]));
    else
      EXPECT_EQ(y[t] > 50, t > 40);
  }
}

TEST(SpectralSurrogates, OneSampleStays) {
  EXPECT_EQ(surrogate({2.5}, SurrogateMethod::iaaft), Values{2.5});
  EXPECT_EQ(surrogate({2.5}, SurrogateMethod::phase), Values{2.5});
}

}  // namespace
}  // namespace kolmo
