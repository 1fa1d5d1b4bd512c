#include "kolmo/ops/info/histogram_2d/histogram_2d.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "kolmo/base/number_text.hpp"
#include "kolmo/op/define.hpp"
#include "kolmo/ops/info/histogram_2d/bins.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = Histogram2dArgs;

void check_range(const char* axis, double low, double high, std::int64_t bins) {
  const double step = (high - low) / double(bins);
  if (!(step > 0 && std::isfinite(1 / step) && std::isfinite(high - low)))
    fail<InvalidArgument>(std::string("histogram_2d: ") + axis + "_min = " + number_text(low) + " and " +
                          axis + "_max = " + number_text(high) + " make no range for " +
                          std::to_string(bins) + " bins");
}

void check(const A& a) {
  check_range("x", a.x_min, a.x_max, a.bins_x);
  check_range("y", a.y_min, a.y_max, a.bins_y);
}

/// Adds samples [first, end) to counters: add(bin).
template <class T, class Add>
void count(const T* x, const T* y, std::int64_t first, std::int64_t end, const Bins& bins_x,
           const Bins& bins_y, bool clamp, const Add& add) {
  for (std::int64_t i = first; i < end; ++i) {
    const std::int64_t column = bins_y.of(double(y[i]), clamp), row = bins_x.of(double(x[i]), clamp);
    if (row >= 0 && column >= 0) add(row * bins_y.count + column);
  }
}

/// Several threads count parts of one batch element. With few bins, each has counters of its own, which are
/// added in the end. With many bins, where two threads seldom meet, they share counters and add atomically.
void cpu(const A& a, Arena, Stream& s, int) {
  constexpr std::int64_t part = 1 << 16, few = 1 << 12;
  const std::int64_t n = a.x.extent[std::size_t(a.x.rank - 1)], bins = a.bins_x * a.bins_y,
                     parts = (n + part - 1) / part, batch = a.counts.size() / bins;
  const Bins bins_x(a.x_min, a.x_max, a.bins_x), bins_y(a.y_min, a.y_max, a.bins_y);
  const bool clamp = a.outside == OutsidePolicy::clamp;
  auto* const counts = a.counts.as<std::int64_t>();
  std::fill_n(counts, a.counts.size(), 0);
  visit<double, float>(a.x.dtype, [&]<class T> {
    parallel_for(s.threads(), batch * parts, [&](std::int64_t item, int) {
      const std::int64_t b = item / parts, first = item % parts * part, end = std::min(n, first + part);
      std::int64_t* const total = counts + b * bins;
      const auto each = [&](const auto& add) {
        count(a.x.as<T>() + b * n, a.y.as<T>() + b * n, first, end, bins_x, bins_y, clamp, add);
      };
      const auto share = [&](std::int64_t bin, std::int64_t samples) {
        std::atomic_ref(total[bin]).fetch_add(samples, std::memory_order_relaxed);
      };
      if (parts == 1) {
        each([&](std::int64_t bin) { ++total[bin]; });
      } else if (bins <= few) {
        std::int64_t own[few];
        std::fill_n(own, bins, 0);
        each([&](std::int64_t bin) { ++own[bin]; });
        for (std::int64_t bin = 0; bin < bins; ++bin) share(bin, own[bin]);
      } else {
        each([&](std::int64_t bin) { share(bin, 1); });
      }
    });
  });
}

void unequal_bins(A& a) { a.bins_x = 7, a.bins_y = 3, a.x_min = -0.5, a.x_max = 0.9, a.y_min = 0.1; }
void clamped(A& a) { unequal_bins(a), a.outside = OutsidePolicy::clamp; }
void many_bins(A& a) { a.bins_x = 200, a.bins_y = 150; }
/// Nearly all samples are in one bin.
void few_of_many_bins(A& a) { many_bins(a), a.outside = OutsidePolicy::clamp, a.x_max = a.y_max = 1e-3; }
/// Samples lie on the edges, one ulp beside them, outside, and are NaN.
void edges(A& a) {
  a.bins_x = 10, a.bins_y = 3, a.x_min = -0.1, a.x_max = 0.7;
  double *x = a.x.as<double>(), *y = a.y.as<double>();
  for (std::int64_t i = 0; i < a.x.size(); ++i) {
    const double edge = a.x_min + double(i % 13 - 1) * ((a.x_max - a.x_min) / 10);
    x[i] = i % 3 == 0 ? edge : std::nextafter(edge, i % 3 == 1 ? -unlimited : unlimited);
    y[i] = i % 17 == 0 ? std::nan("") : i % 19 == 0 ? unlimited : double(i % 4) / 3;
  }
}
void fine(A& a) { a.bins_x = 256, a.bins_y = 256; }

constexpr Case<A> cases[] = {
    {.name = "n=1", .sizes = {{"...", 1}, {"n", 1}}},
    {.name = "n=1000 f64", .sizes = {{"...", 3}, {"n", 1000}}},
    {.name = "7 x 3 bins f32", .sizes = {{"...", 2}, {"n", 777}}, .dtype = DType::f32, .setup = unequal_bins},
    {.name = "clamp", .sizes = {{"...", 2}, {"n", 777}}, .setup = clamped},
    {.name = "200 x 150 bins", .sizes = {{"...", 1}, {"n", 5000}}, .setup = many_bins},
    {.name = "edges", .sizes = {{"...", 1}, {"n", 2000}}, .setup = edges},
    {.name = "n=70000", .sizes = {{"...", 1}, {"n", 70000}}},
    {.name = "n=70000, 200 x 150 bins", .sizes = {{"...", 1}, {"n", 70000}}, .setup = many_bins},
    {.name = "n=140000 f32 in few of 200 x 150 bins",
     .sizes = {{"...", 1}, {"n", 140000}},
     .dtype = DType::f32,
     .setup = few_of_many_bins},
    {.name = "n=2^24, 10 x 10 bins", .sizes = {{"...", 1}, {"n", 1 << 24}}, .benchmark_only = true},
    {.name = "n=2^24, 256 x 256 bins",
     .sizes = {{"...", 1}, {"n", 1 << 24}},
     .benchmark_only = true,
     .setup = fine},
    {.name = "10^5 histograms of 1000", .sizes = {{"...", 100000}, {"n", 1000}}, .benchmark_only = true},
};

constinit const Definition<Histogram2dArgs> definition{
    {.name = "histogram_2d",
     .summary = "counts[i, j] = number of samples (x, y) in bin i of x and bin j of y",
     .source = "numpy.histogram2d",
     .determinism = Determinism::everywhere},
    // Each of two axes takes a difference, a quotient, and two edges of two operations each.
    {.check = check, .flops = [](const A& a) { return 12.0 * double(a.x.size()); }, .cases = cases}};

}  // namespace

constinit const Op<Histogram2dArgs> histogram_2d{definition};
extern constinit const Impl<Histogram2dArgs> histogram_2d_cpu{{.launch = cpu}};

}  // namespace kolmo
