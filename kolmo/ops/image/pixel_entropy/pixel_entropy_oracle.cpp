#include <cmath>
#include <map>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/image/pixel_entropy/pixel_entropy.hpp"

namespace kolmo::check {
namespace {
using A = PixelEntropyArgs;

std::int64_t level(const A& a, std::int64_t i) {
  const auto v = double(get(a.x, i));
  if (a.x.dtype == DType::u8 || a.x.dtype == DType::u16) return std::int64_t(v);
  const double at = std::floor((v - a.low) * (double(a.levels) / (a.high - a.low)));
  return std::int64_t(std::fmax(0, std::fmin(at, double(a.levels - 1))));
}

/// Counts the levels of every window anew.
void expected(const A& a) {
  const std::int64_t h = a.x.dim(-2), w = a.x.dim(-1), r = a.radius;
  for (std::int64_t i = 0; i < a.x.size(); ++i) {
    const std::int64_t image = i / (h * w) * (h * w), row = i / w % h, column = i % w;
    std::map<std::int64_t, long double> count;
    long double n = 0, entropy = 0;
    for (std::int64_t dy = -r; dy <= r; ++dy)
      for (std::int64_t dx = -r; dx <= r; ++dx) {
        if (a.window == WindowShape::disk && dx * dx + dy * dy > r * r) continue;
        if (row + dy < 0 || row + dy >= h || column + dx < 0 || column + dx >= w) continue;
        ++count[level(a, image + (row + dy) * w + column + dx)], ++n;
      }
    for (const auto& [g, c] : count) entropy -= c / n * std::log2(c / n);
    put(a.entropy, i, entropy);
  }
}

template <class T>
std::vector<double> entropy_of(std::vector<T> x, std::int64_t h, A a, Stream& s) {
  std::vector<double> y(x.size(), -1);
  const std::int64_t w = std::int64_t(x.size()) / h;
  a.x = tensor(x.data(), {h, w}), a.entropy = tensor(y.data(), {h, w});
  call(pixel_entropy, a, s);
  return y;
}
A square(std::int64_t radius) {
  A a;
  a.radius = radius, a.window = WindowShape::square;
  return a;
}

constexpr Fact facts[] = {
    {"a constant image has exactly 0, one with two levels in halves has 1 bit, four have 2",
     [](Stream& s) {
       for (const double v : entropy_of(std::vector<std::uint8_t>(35, 9), 5, square(2), s))
         expect(v == 0, "a constant window has entropy");
       for (const double v : entropy_of<std::uint8_t>({0, 255, 255, 0}, 2, square(1), s))
         expect(v == 1, "two levels are no bit");
       for (const double v : entropy_of<std::uint16_t>({0, 1, 256, 65535}, 2, square(1), s))
         expect(v == 2, "four levels are no 2 bits");
     }},
    {"borders: only pixels in the image count",
     [](Stream& s) {
       const auto y = entropy_of<std::uint8_t>({1, 2, 3, 3}, 1, square(1), s);
       const double third = std::log2(3.0);
       expect_near(y[0], 1, 1e-12, "corner");
       expect_near(y[1], third, 1e-12, "three levels");
       expect_near(y[2], third - 2. / 3, 1e-12, "1 of 3 and 2 of 3");
       expect(y[3] == 0, "two equal pixels");
     }},
    {"a disk of radius 1 is a cross",
     [](Stream& s) {
       A a;
       a.radius = 1;
       const auto y = entropy_of<std::uint8_t>({9, 0, 9, 0, 0, 0, 9, 0, 9}, 3, a, s);
       expect(y[4] == 0, "corners were counted");
     }},
    {"levels of floating pixels: below, edges, above, infinities",
     [](Stream& s) {
       A a = square(127);
       a.levels = 4, a.low = -1, a.high = 1;
       const auto y = entropy_of<float>({-INFINITY, -7, -1, -0.5001f, -0.5f, 0, 0.5f, 1, INFINITY}, 3, a, s);
       const double want = -4. / 9 * std::log2(4. / 9) - 2 * std::log2(1. / 9) / 9 - std::log2(3. / 9) / 3;
       for (const double v : y) expect_near(v, want, 1e-12, "4, 1, 1 and 3 of 9");
     }},
    {"no pixels; NaN and an empty range are refused",
     [](Stream& s) {
       std::uint8_t x = 0;
       double y = 0;
       call(pixel_entropy, {.x = tensor(&x, {0, 3}), .entropy = tensor(&y, {0, 3})}, s);
       expect_invalid(
           [&] {
             entropy_of<double>({0, 0, 0, std::nan("")}, 2, square(1), s);
           },
           "x is NaN at element 3");
       A a;
       a.low = 1;
       expect_invalid([&] { entropy_of<double>({0, 0}, 2, a, s); }, "low below high");
     }},
};

}  // namespace

extern constinit const Oracle<A> pixel_entropy_oracle{pixel_entropy, expected, facts};

}  // namespace kolmo::check
