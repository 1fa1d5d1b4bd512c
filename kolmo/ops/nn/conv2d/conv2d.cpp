#include "kolmo/ops/nn/conv2d/conv2d.hpp"

#include <climits>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/nn/conv2d/conv2d_cpu.hpp"
#include "kolmo/ops/nn/conv2d/conv2d_sizes.hpp"

namespace kolmo {
namespace {
using A = Conv2dArgs;

void check(const A& a) {
  for (const Integers* list : {&a.stride, &a.padding, &a.dilation})
    require(list->size() == 1 || list->size() == 2,
            "conv2d: stride, padding and dilation are one number, or one for rows and one for columns");
  const Conv2dSizes s(a);
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  if (s.channels % s.groups || s.outputs % s.groups)
    fail<InvalidArgument>("conv2d: " + number(s.channels) + " channels of x and " + number(s.outputs) +
                          " of weight are not divisible by groups = " + number(s.groups));
  if (s.depth != s.channels / s.groups)
    fail<InvalidArgument>("conv2d: weight has " + number(s.depth) + " channels, and x has " +
                          number(s.channels / s.groups) + " in each group");
  if (s.rows.out < 1 || s.columns.out < 1 || s.rows.kernel < 1 || s.columns.kernel < 1)
    fail<InvalidArgument>("conv2d: a kernel of " + number(s.rows.kernel) + " x " + number(s.columns.kernel) +
                          " with this dilation does not fit in " + number(s.rows.in) + " x " +
                          number(s.columns.in) + " pixels with this padding");
  const auto reach = [](const Conv2dSizes::Axis& x) { return x.in + 2 * x.padding; };
  require(reach(s.rows) <= INT_MAX && reach(s.columns) <= INT_MAX,
          "conv2d: rows and columns of an image with its padding must be below 2^31");
  require(s.terms() <= INT_MAX && s.outputs <= INT_MAX && s.pixels() <= INT_MAX,
          "conv2d: terms of a sum, output channels and output pixels of an image must be below 2^31 each");
}

void sizes(const A& a, Dims& dims) {
  if (a.stride.empty() || a.padding.empty() || a.dilation.empty()) check(a);
  const Conv2dSizes s(a);
  const std::int64_t nchw[] = {s.outputs, s.rows.out, s.columns.out}, nhwc[] = {nchw[1], nchw[2], nchw[0]};
  constexpr const char* names[] = {"y1", "y2", "y3"};
  for (int i = 0; i < 3; ++i) dims.set(names[i], (s.nhwc ? nhwc : nchw)[i]);
}

double flops(const A& a) { return 2 * double(a.y.size()) * double(Conv2dSizes(a).terms()); }

/// As for matmul: bound of |got - want| / max(1, |want|) for k products of normal numbers. Each of k + 2
/// roundings errs by `unit` times the sum of magnitudes, which is below 0.64 k + 6 sqrt(k), and 4 for the
/// bias; then comes half an ulp of y.
constexpr double bound(double k, double unit, double half_ulp = 0) {
  double root = 1 + k / 2;
  for (int i = 0; i < 60; ++i) root = (root + k / root) / 2;
  return (k + 2) * unit * (0.64 * k + 6 * root + 4) + half_ulp;
}
constexpr double f64 = 0x1p-53, f32 = 0x1p-24, f16 = 0x1p-11, bf16 = 0x1p-8;

constexpr Case<A> cases[] = {
    {.name = "one pixel",
     .sizes = {{"...", 1}, {"x1", 1}, {"x2", 1}, {"x3", 1}, {"o", 1}, {"w1", 1}, {"w2", 1}, {"w3", 1}},
     .tolerance = bound(1, f64)},
    {.name = "2 of 3 x 13 x 17 f64, 5 of 3 x 3 x 3, padding 1",
     .sizes = {{"...", 2}, {"x1", 3}, {"x2", 13}, {"x3", 17}, {"o", 5}, {"w1", 3}, {"w2", 3}, {"w3", 3}},
     .tolerance = bound(27, f64),
     .optional = "bias",
     .setup = [](A& a) { a.padding = {1}; }},
    {.name = "17 x 12 x 9 f32, 66 of 17 x 3 x 2, stride 2 1, padding 3 0, dilation 1 2, relu",
     .sizes = {{"...", 1}, {"x1", 17}, {"x2", 12}, {"x3", 9}, {"o", 66}, {"w1", 17}, {"w2", 3}, {"w3", 2}},
     .dtype = DType::f32,
     .tolerance = bound(102, f32),
     .optional = "bias",
     .setup =
         [](A& a) {
           a.stride = {2, 1}, a.padding = {3, 0}, a.dilation = {1, 2};
         },
     .alias = "fused_conv_relu"},
    {.name = "2 x 6 x 15 f32, 3 of 2 x 3 x 3, stride 1 2, padding 1",
     .sizes = {{"...", 1}, {"x1", 2}, {"x2", 6}, {"x3", 15}, {"o", 3}, {"w1", 2}, {"w2", 3}, {"w3", 3}},
     .dtype = DType::f32,
     .tolerance = bound(18, f32),
     .setup =
         [](A& a) {
           a.stride = {1, 2}, a.padding = {1};
         }},
    {.name = "2 of 32 x 7 x 8 f32, 66 of 16 x 3 x 3 in 2 groups, padding 1",
     .sizes = {{"...", 2}, {"x1", 32}, {"x2", 7}, {"x3", 8}, {"o", 66}, {"w1", 16}, {"w2", 3}, {"w3", 3}},
     .dtype = DType::f32,
     .tolerance = bound(144, f32),
     .optional = "bias",
     .setup = [](A& a) { a.groups = 2, a.padding = {1}; }},
    {.name = "3 of 16 x 7 x 7 f64, 5 of 2 x 3, stride 1 2, relu",
     .sizes = {{"...", 3}, {"x1", 16}, {"x2", 7}, {"x3", 7}, {"o", 5}, {"w1", 16}, {"w2", 2}, {"w3", 3}},
     .tolerance = bound(96, f64),
     .setup =
         [](A& a) {
           a.stride = {1, 2};
         },
     .alias = "fused_conv_relu"},
    {.name = "7 x 9 x 5 f32 nhwc, 68 of 3 x 2 x 5",
     .sizes = {{"...", 1}, {"x1", 7}, {"x2", 9}, {"x3", 5}, {"o", 68}, {"w1", 3}, {"w2", 2}, {"w3", 5}},
     .dtype = DType::f32,
     .tolerance = bound(30, f32),
     .optional = "bias",
     .setup = [](A& a) { a.layout = ImageLayout::nhwc; }},
    {.name = "3 of 12 x 7 x 8 f32, 4 groups, gelu",
     .sizes = {{"...", 3}, {"x1", 12}, {"x2", 7}, {"x3", 8}, {"o", 8}, {"w1", 3}, {"w2", 5}, {"w3", 3}},
     .dtype = DType::f32,
     .tolerance = bound(45, f32),
     .setup =
         [](A& a) {
           a.groups = 4, a.padding = {2, 1}, a.activation = Activation::gelu;
         }},
    {.name = "9 x 11 x 20 f64 nhwc, 130 of 1 x 1 x 20",
     .sizes = {{"...", 1}, {"x1", 9}, {"x2", 11}, {"x3", 20}, {"o", 130}, {"w1", 1}, {"w2", 1}, {"w3", 20}},
     .tolerance = bound(20, f64),
     .setup = [](A& a) { a.layout = ImageLayout::nhwc; }},
    {.name = "2 of 6 x 7 x 9 f64, 4 of 3 x 1 x 1 in 2 groups",
     .sizes = {{"...", 2}, {"x1", 6}, {"x2", 7}, {"x3", 9}, {"o", 4}, {"w1", 3}, {"w2", 1}, {"w3", 1}},
     .tolerance = bound(3, f64),
     .setup = [](A& a) { a.groups = 2; }},
    {.name = "2 of 10 x 6 x 8 f32 nhwc, 2 groups, stride 2, padding 2, dilation 2, gelu_tanh",
     .sizes = {{"...", 2}, {"x1", 10}, {"x2", 6}, {"x3", 8}, {"o", 6}, {"w1", 3}, {"w2", 3}, {"w3", 4}},
     .dtype = DType::f32,
     .tolerance = bound(36, f32),
     .optional = "bias",
     .setup =
         [](A& a) {
           a.layout = ImageLayout::nhwc, a.groups = 2, a.stride = a.padding = a.dilation = {2};
           a.activation = Activation::gelu_tanh;
         }},
    {.name = "2 of 10 x 11 x 8 f32, 10 groups of one channel, 3 x 3, stride 2 1, padding 1",
     .sizes = {{"...", 2}, {"x1", 10}, {"x2", 11}, {"x3", 8}, {"o", 10}, {"w1", 1}, {"w2", 3}, {"w3", 3}},
     .dtype = DType::f32,
     .tolerance = bound(9, f32),
     .optional = "bias",
     .setup =
         [](A& a) {
           a.groups = 10, a.stride = {2, 1}, a.padding = {1};
         },
     .alias = "fused_conv_relu"},
    {.name = "2 of 7 x 9 x 34 bf16 nhwc, 34 groups of one channel, 5 x 2, dilation 1 3, padding 2 0",
     .sizes = {{"...", 2}, {"x1", 7}, {"x2", 9}, {"x3", 34}, {"o", 34}, {"w1", 5}, {"w2", 2}, {"w3", 1}},
     .dtype = DType::bf16,
     .tolerance = bound(10, f32, bf16),
     .setup =
         [](A& a) {
           a.layout = ImageLayout::nhwc, a.groups = 34, a.dilation = {1, 3}, a.padding = {2, 0};
         }},
    {.name = "2 of 5 x 9 x 7 f64, 5 groups of one channel, 3 x 2, padding 1",
     .sizes = {{"...", 2}, {"x1", 5}, {"x2", 9}, {"x3", 7}, {"o", 5}, {"w1", 1}, {"w2", 3}, {"w3", 2}},
     .tolerance = bound(6, f64),
     .setup = [](A& a) { a.groups = 5, a.padding = {1}; }},
    {.name = "2 of 7 x 9 x 12 f16 nhwc, 12 groups of one channel, 3 x 3, padding 1, relu",
     .sizes = {{"...", 2}, {"x1", 7}, {"x2", 9}, {"x3", 12}, {"o", 12}, {"w1", 3}, {"w2", 3}, {"w3", 1}},
     .dtype = DType::f16,
     .tolerance = bound(9, f32, f16),
     .optional = "bias",
     .setup = [](A& a) { a.layout = ImageLayout::nhwc, a.groups = 12, a.padding = {1}; },
     .alias = "fused_conv_relu"},
    {.name =
         "2 of 9 x 10 x 8 f32 nhwc, 8 groups of one channel, 3 x 2, stride 2 1, padding 1 2, dilation 1 2",
     .sizes = {{"...", 2}, {"x1", 9}, {"x2", 10}, {"x3", 8}, {"o", 8}, {"w1", 3}, {"w2", 2}, {"w3", 1}},
     .dtype = DType::f32,
     .tolerance = bound(6, f32),
     .optional = "bias",
     .setup =
         [](A& a) {
           a.layout = ImageLayout::nhwc, a.groups = 8, a.stride = {2, 1}, a.padding = {1, 2};
           a.dilation = {1, 2};
         }},
    {.name = "10 x 5 x 6 f64 nhwc, 6 groups of one channel, 3 x 3",
     .sizes = {{"...", 1}, {"x1", 10}, {"x2", 5}, {"x3", 6}, {"o", 6}, {"w1", 3}, {"w2", 3}, {"w3", 1}},
     .tolerance = bound(9, f64),
     .setup = [](A& a) { a.layout = ImageLayout::nhwc, a.groups = 6; }},
    {.name = "3 x 4 x 701 f64 nhwc, 701 groups of one channel, 3 x 3",  // its kernels take more than 48 KiB
     .sizes = {{"...", 1}, {"x1", 3}, {"x2", 4}, {"x3", 701}, {"o", 701}, {"w1", 3}, {"w2", 3}, {"w3", 1}},
     .tolerance = bound(9, f64),
     .setup = [](A& a) { a.layout = ImageLayout::nhwc, a.groups = 701; }},
    {.name = "8 x 9 x 16 f16 nhwc, 33 of 3 x 3 x 16, relu",
     .sizes = {{"...", 1}, {"x1", 8}, {"x2", 9}, {"x3", 16}, {"o", 33}, {"w1", 3}, {"w2", 3}, {"w3", 16}},
     .dtype = DType::f16,
     .tolerance = bound(144, f32, f16),
     .optional = "bias",
     .setup = [](A& a) { a.layout = ImageLayout::nhwc, a.padding = {1}; },
     .alias = "fused_conv_relu"},
    {.name = "3 of 11 x 19 x 72 f16 nhwc, 40 of 3 x 3 x 72, stride 2 1, padding 2 1",
     .sizes = {{"...", 3}, {"x1", 11}, {"x2", 19}, {"x3", 72}, {"o", 40}, {"w1", 3}, {"w2", 3}, {"w3", 72}},
     .dtype = DType::f16,
     .tolerance = bound(648, f32, f16),
     .optional = "bias",
     .setup =
         [](A& a) {
           a.layout = ImageLayout::nhwc, a.stride = {2, 1}, a.padding = {2, 1};
         }},
    {.name = "2 of 18 x 17 x 8 bf16 nhwc, 130 of 1 x 2 x 8, dilation 3, gelu",
     .sizes = {{"...", 2}, {"x1", 18}, {"x2", 17}, {"x3", 8}, {"o", 130}, {"w1", 1}, {"w2", 2}, {"w3", 8}},
     .dtype = DType::bf16,
     .tolerance = bound(16, f32, bf16),
     .setup = [](A& a) { a.layout = ImageLayout::nhwc, a.dilation = {3}, a.activation = Activation::gelu; }},
    {.name = "5 x 9 x 8 bf16, 7 of 5 x 2 x 2",
     .sizes = {{"...", 1}, {"x1", 5}, {"x2", 9}, {"x3", 8}, {"o", 7}, {"w1", 5}, {"w2", 2}, {"w3", 2}},
     .dtype = DType::bf16,
     .tolerance = bound(20, f32, bf16)},
    {.name = "32 of 64 x 56 x 56 f32, 3 x 3, relu",
     .sizes = {{"...", 32}, {"x1", 64}, {"x2", 56}, {"x3", 56}, {"o", 64}, {"w1", 64}, {"w2", 3}, {"w3", 3}},
     .dtype = DType::f32,
     .optional = "bias",
     .benchmark_only = true,
     .setup = [](A& a) { a.padding = {1}; },
     .alias = "fused_conv_relu"},
    {.name = "32 of 56 x 56 x 64 f16 nhwc, 3 x 3, relu",
     .sizes = {{"...", 32}, {"x1", 56}, {"x2", 56}, {"x3", 64}, {"o", 64}, {"w1", 3}, {"w2", 3}, {"w3", 64}},
     .dtype = DType::f16,
     .optional = "bias",
     .benchmark_only = true,
     .setup = [](A& a) { a.layout = ImageLayout::nhwc, a.padding = {1}; },
     .alias = "fused_conv_relu"},
    {.name = "8 of 256 x 28 x 28 f32, 512 of 1 x 1",
     .sizes =
         {{"...", 8}, {"x1", 256}, {"x2", 28}, {"x3", 28}, {"o", 512}, {"w1", 256}, {"w2", 1}, {"w3", 1}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "8 of 3 x 224 x 224 f32, 64 of 7 x 7, stride 2",
     .sizes = {{"...", 8}, {"x1", 3}, {"x2", 224}, {"x3", 224}, {"o", 64}, {"w1", 3}, {"w2", 7}, {"w3", 7}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = [](A& a) { a.stride = {2}, a.padding = {3}; }},
    {.name = "8 of 128 x 56 x 56 f32, 128 groups of 3 x 3",
     .sizes = {{"...", 8}, {"x1", 128}, {"x2", 56}, {"x3", 56}, {"o", 128}, {"w1", 1}, {"w2", 3}, {"w3", 3}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = [](A& a) { a.padding = {1}, a.groups = 128; }},
    {.name = "32 of 56 x 56 x 128 f16 nhwc, 128 groups of 3 x 3",
     .sizes = {{"...", 32}, {"x1", 56}, {"x2", 56}, {"x3", 128}, {"o", 128}, {"w1", 3}, {"w2", 3}, {"w3", 1}},
     .dtype = DType::f16,
     .benchmark_only = true,
     .setup = [](A& a) { a.layout = ImageLayout::nhwc, a.padding = {1}, a.groups = 128; }},
};

constexpr AliasInfo aliases[] = {{.name = "fused_conv_relu",
                                  .summary = "y = relu(x * weight + bias)",
                                  .binds = {bind<&A::activation, Activation::relu>}}};

constinit const Definition<A> definition{
    {.name = "conv2d",
     .summary = "y = activation(x * weight + bias), the cross-correlation of images with kernels",
     .source = "Chellapilla et al. 2006; Chetlur et al. 2014",
     .matrix_products = true},
    {.check = check, .sizes = sizes, .flops = flops, .cases = cases, .aliases = aliases}};

}  // namespace

constinit const Op<A> conv2d{definition};
constinit const Alias<A> fused_conv_relu{definition, aliases[0]};
extern constinit const Impl<A> conv2d_cpu{{.launch = conv2d_on_cpu, .lay = lay_conv2d_on_cpu}};

}  // namespace kolmo
