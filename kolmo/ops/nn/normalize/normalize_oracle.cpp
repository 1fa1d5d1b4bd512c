#include <algorithm>
#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/nn/normalize/normalize.hpp"

namespace kolmo::check {
namespace {
using A = NormalizeArgs;

void expected(const A& a) {
  const std::int64_t k = a.x.extent[std::size_t(a.x.rank - 1)];
  for (std::int64_t row = 0; row < a.x.size(); row += k) {
    long double sum = 0, magnitudes = 0, squares = 0, largest = 0;
    for (std::int64_t i = row; i < row + k; ++i) {
      const long double v = get(a.x, i);
      sum += v, magnitudes += std::abs(v), squares += v * v, largest = std::max(largest, std::abs(v));
    }
    const long double norms[] = {sum, magnitudes, std::sqrt(squares), largest};
    for (std::int64_t i = row; i < row + k; ++i) put(a.y, i, get(a.x, i) / norms[int(a.norm)]);
  }
}

template <class T>
std::vector<T> normalized(std::vector<T> x, RowNorm norm, Stream& s) {
  std::vector<T> y(x.size(), T(7));
  const auto k = std::int64_t(x.size());
  call(normalize, {.x = tensor(x.data(), {k}), .y = tensor(y.data(), {k}), .norm = norm}, s);
  return y;
}
constexpr RowNorm norms[] = {RowNorm::sum, RowNorm::l1, RowNorm::l2, RowNorm::max};

constexpr Fact facts[] = {
    {"(-1, 2, 3) by sum, (-1, 3) by L1, (3, -4) by L2, (1, -4) by the largest magnitude",
     [](Stream& s) {
       expect(normalized<double>({-1, 2, 3}, RowNorm::sum, s) == std::vector<double>{-0.25, 0.5, 0.75},
              "sum");
       expect(normalized<double>({-1, 3}, RowNorm::l1, s) == std::vector<double>{-0.25, 0.75}, "l1");
       const auto y = normalized<double>({3, -4}, RowNorm::l2, s);
       expect_near(y[0], 0.6, 0x1p-51, "l2");
       expect_near(y[1], -0.8, 0x1p-51, "l2");
       expect(normalized<double>({1, -4}, RowNorm::max, s) == std::vector<double>{0.25, -1}, "max");
     }},
    {"rows of zeros stay zero, of any length",
     [](Stream& s) {
       for (const RowNorm norm : norms)
         for (const std::size_t k : {1, 5, 64, 20000}) {
           const auto y = normalized(std::vector<float>(k, 0.0f), norm, s);
           expect(std::all_of(y.begin(), y.end(), [](float v) { return v == 0; }), "not zero");
         }
     }},
    {"a row that cancels to 0 becomes infinite by its sum, its zeros stay",
     [](Stream& s) {
       const auto y = normalized<float>({1, -1, 0}, RowNorm::sum, s);
       expect(y[0] == INFINITY && y[1] == -INFINITY && y[2] == 0, "wrong quotients");
     }},
    {"L2 of numbers whose squares overflow or vanish, in long rows, too",
     [](Stream& s) {
       for (const double size : {1e300, 1e-300}) {
         std::vector<double> x(10000, 0.0);
         x[0] = 3 * size, x[9999] = -4 * size;
         const auto y = normalized(x, RowNorm::l2, s);
         expect_near(y[0], 0.6, 0x1p-49, "first");
         expect_near(y[9999], -0.8, 0x1p-49, "last");
       }
       const auto y = normalized<float>({3e38f, 0, 0, 1e-40f}, RowNorm::l2, s);
       expect_near(double(y[0]), 1, 0x1p-22, "f32");
       expect(y[3] == 0, "f32");
     }},
    {"a NaN makes a row NaN, wherever it stands",
     [](Stream& s) {
       for (const RowNorm norm : norms)
         for (const std::size_t k : {3, 64, 9000})
           for (const std::size_t at : {std::size_t(0), k - 1}) {
             std::vector<float> x(k, 1.0f);
             x[at] = NAN;
             const auto y = normalized(x, norm, s);
             expect(std::all_of(y.begin(), y.end(), [](float v) { return std::isnan(v); }), "not NaN");
           }
     }},
    {"an infinite element becomes NaN, the others 0",
     [](Stream& s) {
       for (const RowNorm norm : {RowNorm::sum, RowNorm::l1, RowNorm::max}) {
         const auto y = normalized<double>({INFINITY, 2}, norm, s);
         expect(std::isnan(y[0]) && y[1] == 0, "wrong");
       }
     }},
};

}  // namespace

extern constinit const Oracle<A> normalize_oracle{normalize, expected, facts};

}  // namespace kolmo::check
