#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/info/histogram_2d/histogram_2d.hpp"

namespace kolmo::check {
namespace {
using A = Histogram2dArgs;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Finds the bin by NumPy's rule: the number of linspace edges that are <= v, minus one; max is in the last
/// bin.
std::int64_t bin(double v, double min, double max, std::int64_t bins, bool clamp) {
  if (std::isnan(v)) return -1;
  if (clamp) v = std::fmin(std::fmax(v, min), max);
  const double step = (max - min) / double(bins);
  std::int64_t below = 0;
  for (std::int64_t i = 0; i <= bins; ++i) below += (i == bins ? max : double(i) * step + min) <= v;
  if (v == max) below = bins;
  return below > bins ? -1 : below - 1;
}

void expected(const A& a) {
  const std::int64_t n = a.x.extent[std::size_t(a.x.rank - 1)], bins = a.bins_x * a.bins_y;
  auto* const counts = a.counts.as<std::int64_t>();
  std::fill_n(counts, a.counts.size(), 0);
  for (std::int64_t i = 0; i < a.x.size(); ++i) {
    const bool clamp = a.outside == OutsidePolicy::clamp;
    const std::int64_t row = bin(double(get(a.x, i)), a.x_min, a.x_max, a.bins_x, clamp);
    const std::int64_t column = bin(double(get(a.y, i)), a.y_min, a.y_max, a.bins_y, clamp);
    if (row >= 0 && column >= 0) ++counts[i / n * bins + row * a.bins_y + column];
  }
}

using Counts = std::vector<std::int64_t>;
Counts count(std::vector<double> x, std::vector<double> y, A a, Stream& s) {
  Counts counts(std::size_t(a.bins_x * a.bins_y), -1);
  a.x = tensor(x.data(), {std::int64_t(x.size())});
  a.y = tensor(y.data(), {std::int64_t(y.size())});
  a.counts = tensor(counts.data(), {a.bins_x, a.bins_y});
  call(histogram_2d, a, s);
  return counts;
}

A bins(std::int64_t x, std::int64_t y) {
  A a;
  a.bins_x = x, a.bins_y = y;
  return a;
}

constexpr Fact facts[] = {
    {"bins are closed below, the last one also above",
     [](Stream& s) {
       const A a = bins(2, 1);
       expect(count({0, 0.25, 0.5, 0.75, 1}, {0, 0, 0, 0, 1}, a, s) == Counts{2, 3}, "counts on edges");
     }},
    {"rows are bins of x, columns bins of y",
     [](Stream& s) {
       const A a = bins(2, 3);
       expect(count({0.1, 0.9, 0.9}, {0.9, 0.1, 0.5}, a, s) == Counts{0, 0, 1, 1, 1, 0}, "layout");
     }},
    {"outside: dropped or clamped; NaN never counts",
     [](Stream& s) {
       A a = bins(2, 1);
       const std::vector<double> x = {-1, 2, infinity, -infinity, std::nan(""), 0.1}, y = {0, 0, 0, 0, 0, 3};
       expect(count(x, y, a, s) == Counts{0, 0}, "drop");
       a.outside = OutsidePolicy::clamp;
       expect(count(x, y, a, s) == Counts{3, 2}, "clamp");
     }},
    {"0.3 is below the third edge of 10 over [0, 1], 3 * 0.1 in double",
     [](Stream& s) {
       const A a = bins(10, 1);
       Counts want(10, 0);
       want[2] = 1;
       expect(count({0.3}, {0}, a, s) == want, "0.3 is below the edge 0.30000000000000004");
     }},
    {"bins narrower than the resolution of double",
     [](Stream& s) {
       A a = bins(4, 1);
       a.x_min = 1, a.x_max = 1 + 0x1p-52;
       // The edges round to 1, 1, 1 (a tie), 1 + eps, 1 + eps; the last edge that is <= v counts.
       expect(count({1, 1 + 0x1p-52}, {0, 0}, a, s) == Counts{0, 0, 1, 1}, "edges that coincide");
     }},
    {"no samples",
     [](Stream& s) {
       expect(count({}, {}, bins(2, 2), s) == Counts{0, 0, 0, 0}, "empty");
     }},
    {"ranges are checked",
     [](Stream& s) {
       const auto refused = [&](double low, double high) {
         A on_x, on_y;
         on_x.x_min = on_y.y_min = low, on_x.x_max = on_y.y_max = high;
         for (const A& a : {on_x, on_y}) expect_invalid([&] { count({0.5}, {0.5}, a, s); }, "make no range");
       };
       refused(1, 1);
       refused(2, 1);
       refused(0, infinity);
       refused(-1.7e308, 1.7e308);
       refused(0, 1e-320);
     }},
};

}  // namespace

extern constinit const Oracle<A> histogram_2d_oracle{histogram_2d, expected, facts};

}  // namespace kolmo::check
