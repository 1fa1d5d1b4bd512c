// Bounds from images in f32 must hold for f64 distances of any data, and must decide most comparisons of usual data. This
// is compiled for the emulated GPU, and called as functions of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "kolmo/knn/f32_image.cuh"

namespace kolmo::cuda {
namespace {

struct Decisions {
  int wrong = 0, open = 0, all = 0;
};
/// Compares distances from each of 40 points with distances of pairs, and with the next numbers above and below these.
Decisions decide(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = std::int64_t(values.size());
  const Frame frame = frame_of(n, [&](std::int64_t i) { return values[std::size_t(i)]; });
  const double scale = scale_of(frame.spread);
  std::mt19937 random(3);
  const auto any = [&] { return values[random() % values.size()]; };
  Decisions d;
  for (int i = 0; i < 40; ++i) {
    const double own = any(), radius = distance_of(any(), any());
    const float own_image = image_of(own, frame.centre, scale);
    const ImageBounds bounds{scale, std::fabs(own_image)};
    for (const double value : values)
      for (const double r :
           {radius, distance_of(own, value), std::nextafter(distance_of(own, value), INFINITY)}) {
        const bool nearer = distance_of(own, value) < r;
        const float far = distance_of(own_image, image_of(value, frame.centre, scale));
        const bool surely = far < bounds.inner(r), perhaps = far < bounds.outer(r);
        d.wrong += (surely && !nearer) || (!perhaps && nearer);
        const long double apart = std::fabs((long double)(own)-value) * scale;  // may overflow f64
        d.wrong += apart > bounds.wider(far) || apart < bounds.tighter(far);
        if (r == radius) d.open += perhaps && !surely, ++d.all;
      }
  }
  return d;
}

std::vector<double> values(const std::function<double(int, double)>& f) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> v;
  for (int i = 0; i < 1000; ++i) v.push_back(f(i, normal(random)));
  return v;
}

TEST(F32Image, BoundsHoldForAnyData) {
  const std::function<double(int, double)> kinds[] = {
      [](int, double g) { return g; },
      [](int, double g) { return std::round(3 * g); },
      [](int, double g) { return 1 + std::round(9 * g) * 0x1p-24; },
      [](int, double g) { return 1e6 + 1e-9 * g; },
      [](int, double g) { return 1e-310 * g; },
      [](int, double g) { return 1e300 * g; },
      [](int i, double g) { return (i % 2 ? 1.7e308 : -1.7e308) + 1e306 * g; },
      [](int i, double g) { return std::pow(10, double(i % 9 - 4) * 75) * g; },
      [](int i, double g) { return i % 5 ? 0 : 1e-40 * g; },
      [](int i, double g) { return i % 50 ? g : std::ldexp(g, 100 + i % 7 * 5); },
      [](int i, double g) { return i % 3 ? g : std::ldexp(g, 123 + i % 4); },
      [](int, double) { return 3.0; },
  };
  for (const auto& kind : kinds) {
    const Decisions d = decide(values(kind));
    EXPECT_EQ(d.wrong, 0) << "kind " << &kind - kinds;
  }
}

TEST(F32Image, BoundsDecideMostComparisons) {
  const std::function<double(int, double)> kinds[] = {
      [](int, double g) { return g; },
      [](int, double g) { return 1e5 + g; },
      [](int, double g) { return 1e-200 * g; },
      [](int, double g) { return 1e200 * (5 + g); },
      [](int i, double g) { return (i % 2 ? 8e307 : -8e307) + 4e306 * std::tanh(g); },
      [](int i, double g) { return i ? g : 1e30; },
  };
  for (const auto& kind : kinds) {
    const Decisions d = decide(values(kind));
    EXPECT_LT(d.open, d.all / 1000) << "kind " << &kind - kinds;
    EXPECT_GT(d.all, 0);
  }
}

TEST(F32Image, IsANumberForEveryValue) {
  for (const double v : {double(NAN), double(INFINITY), -double(INFINITY), 1.7e308, -1.7e308})
    for (const double scale : {0x1p-1000, 1.0, 0x1p1000}) EXPECT_TRUE(std::isfinite(image_of(v, 0, scale)));
}

}  // namespace
}  // namespace kolmo::cuda
