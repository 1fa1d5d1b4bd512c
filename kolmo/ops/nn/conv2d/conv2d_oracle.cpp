#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/nn/conv2d/conv2d.hpp"

namespace kolmo::check {
namespace {
using A = Conv2dArgs;

long double activation_of(Activation f, long double x) {
  const long double pi = 3.141592653589793238462643383279502884L;
  if (f == Activation::relu) return x > 0 ? x : 0;
  if (f == Activation::gelu) return x * std::erfc(-x / std::sqrt(2.0L)) / 2;
  if (f == Activation::gelu_tanh)
    return x / 2 * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715L * x * x * x)));
  return x;
}

void expected(const A& a) {
  const bool last = a.layout == ImageLayout::nhwc;
  const auto extent = [&](const Tensor& t, int axis) { return t.dim(last ? (axis + 2) % 3 - 3 : axis - 3); };
  /// Reads element (c, i, j) of entry n.
  const auto at = [&](const Tensor& t, std::int64_t n, std::int64_t c, std::int64_t i, std::int64_t j) {
    const std::int64_t cs = extent(t, 0), hs = extent(t, 1), ws = extent(t, 2);
    return last ? ((n * hs + i) * ws + j) * cs + c : ((n * cs + c) * hs + i) * ws + j;
  };
  const auto of = [](const Integers& list, int axis) { return list[list.size() == 2 ? axis : 0]; };
  const std::int64_t outputs = extent(a.y, 0), p = extent(a.y, 1), q = extent(a.y, 2),
                     depth = extent(a.weight, 0);
  for (std::int64_t n = 0; n < a.y.size() / (outputs * p * q); ++n)
    for (std::int64_t o = 0; o < outputs; ++o)
      for (std::int64_t i = 0; i < p; ++i)
        for (std::int64_t j = 0; j < q; ++j) {
          long double sum = a.bias.given() ? get(a.bias, o) : 0;
          const std::int64_t first = o / (outputs / a.groups) * depth;
          for (std::int64_t c = 0; c < depth; ++c)
            for (std::int64_t r = 0; r < extent(a.weight, 1); ++r)
              for (std::int64_t s = 0; s < extent(a.weight, 2); ++s) {
                const std::int64_t y = i * of(a.stride, 0) + r * of(a.dilation, 0) - of(a.padding, 0),
                                   x = j * of(a.stride, 1) + s * of(a.dilation, 1) - of(a.padding, 1);
                if (y >= 0 && y < extent(a.x, 1) && x >= 0 && x < extent(a.x, 2))
                  sum += get(a.weight, at(a.weight, o, c, r, s)) * get(a.x, at(a.x, n, first + c, y, x));
              }
          put(a.y, at(a.y, n, o, i, j), activation_of(a.activation, sum));
        }
}

constexpr Fact facts[] = {
    {"3 x 3 pixels with (1 2; 3 4): not turned, as in torch",
     [](Stream& s) {
       double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, w[] = {1, 2, 3, 4}, y[4] = {};
       call(conv2d,
            {.x = tensor(x, {1, 3, 3}),
             .weight = tensor(w, {1, 1, 2, 2}),
             .bias = {},
             .y = tensor(y, {1, 2, 2})},
            s);
       expect(y[0] == 37 && y[1] == 47 && y[2] == 67 && y[3] == 77, "wrong sums");
     }},
    {"padding: zeros, and a kernel larger than the image; relu of the sum with the bias",
     [](Stream& s) {
       float x[] = {5}, w[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, bias[] = {-30}, y[9] = {};
       A a{.x = tensor(x, {1, 1, 1}),
           .weight = tensor(w, {1, 1, 3, 3}),
           .bias = {},
           .y = tensor(y, {1, 3, 3})};
       a.padding = {2};
       call(conv2d, a, s);
       for (int i = 0; i < 9; ++i) expect(y[i] == float(5 * (9 - i)), "wrong place of a pixel");
       a.bias = tensor(bias, {1});
       call(fused_conv_relu, a, s);
       expect(y[0] == 15 && y[2] == 5 && y[3] == 0 && y[8] == 0, "wrong relu");
     }},
    {"groups: each channel with its own kernel, in both layouts",
     [](Stream& s) {
       float x[] = {1, 2, 10, 20}, w[] = {3, 4}, y[4] = {};
       A a{.x = tensor(x, {2, 1, 2}),
           .weight = tensor(w, {2, 1, 1, 1}),
           .bias = {},
           .y = tensor(y, {2, 1, 2})};
       a.groups = 2;
       call(conv2d, a, s);
       expect(y[0] == 3 && y[1] == 6 && y[2] == 40 && y[3] == 80, "nchw");
       a.x = tensor(x, {1, 2, 2}), a.y = tensor(y, {1, 2, 2}), a.layout = ImageLayout::nhwc;
       call(conv2d, a, s);
       expect(y[0] == 3 && y[1] == 8 && y[2] == 30 && y[3] == 80, "nhwc");
     }},
    {"f16: 2048 products of 1 sum to 2048; no images",
     [](Stream& s) {
       std::vector<Half> x(2048, Half(1.0f)), w(2048, Half(1.0f));
       Half y[1];
       call(conv2d,
            {.x = tensor(x.data(), {2048, 1, 1}),
             .weight = tensor(w.data(), {1, 2048, 1, 1}),
             .bias = {},
             .y = tensor(y, {1, 1, 1})},
            s);
       expect(float(y[0]) == 2048, "summed in f16");
       call(conv2d,
            {.x = tensor(x.data(), {0, 1, 1, 1}),
             .weight = tensor(w.data(), {1, 1, 1, 1}),
             .bias = {},
             .y = tensor(y, {0, 1, 1, 1})},
            s);
     }},
    {"no channels: the bias, in f32 and f64 and both layouts",
     [](Stream& s) {
       const auto is_bias = [&]<class T>(T one) {
         for (const ImageLayout layout : {ImageLayout::nchw, ImageLayout::nhwc}) {
           const bool last = layout == ImageLayout::nhwc;
           T bias[] = {one, T(2)}, y[8] = {};
           A a{.bias = tensor(bias, {2}), .layout = layout};
           a.x = last ? tensor(y, {2, 2, 0}) : tensor(y, {0, 2, 2});
           a.weight = last ? tensor(y, {2, 1, 1, 0}) : tensor(y, {2, 0, 1, 1});
           a.y = last ? tensor(y, {2, 2, 2}) : tensor(y, {2, 2, 2});
           call(conv2d, a, s);
           for (int i = 0; i < 8; ++i) expect(y[i] == (last ? i % 2 : i / 4) + 1, "not the bias");
         }
       };
       is_bias(1.0f), is_bias(1.0);
     }},
    {"wrong sizes are refused",
     [](Stream& s) {
       float x[12] = {}, w[12] = {}, y[12] = {};
       const auto refused = [&](const A& a, const char* why) {
         expect_invalid([&] { call(conv2d, a, s); }, why);
       };
       A a{.x = tensor(x, {3, 2, 2}),
           .weight = tensor(w, {2, 2, 1, 1}),
           .bias = {},
           .y = tensor(y, {2, 2, 2})};
       refused(a, "weight has 2 channels, and x has 3 in each group");
       a.groups = 2;
       refused(a, "3 channels of x and 2 of weight are not divisible by groups = 2");
       a.groups = 1, a.weight = tensor(w, {1, 3, 3, 1}), a.y = tensor(y, {1, 1, 1});
       refused(a, "a kernel of 3 x 1 with this dilation does not fit");
       a.weight = tensor(w, {2, 3, 1, 1}), a.y = tensor(y, {2, 1, 1});
       refused(a, "conv2d: y is (2, 1, 1) f32 on ");
       a.y = tensor(y, {2, 2, 2}), a.stride = {1, 1, 1};
       refused(a, "stride, padding and dilation are one number, or one for rows and one for columns");
     }},
};

}  // namespace

extern constinit const Oracle<A> conv2d_oracle{conv2d, expected, facts};

}  // namespace kolmo::check
