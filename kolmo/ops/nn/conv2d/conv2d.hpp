#pragma once
#include "kolmo/base/activation.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

enum class ImageLayout : std::int32_t { nchw, nhwc };
inline constexpr std::string_view image_layout_names[] = {"nchw", "nhwc"};
constexpr std::span<const std::string_view> names_of(ImageLayout) { return image_layout_names; }

struct Conv2dArgs {
  In x, weight;
  OptIn bias;
  Out y;
  Integers stride = {1}, padding = {0}, dilation = {1};
  std::int64_t groups = 1;
  ImageLayout layout = ImageLayout::nchw;
  Activation activation = Activation::none;

  static constexpr auto fields() {
    using A = Conv2dArgs;
    return std::array{
        field<&A::x>("x", "... x1 x2 x3", floats, "images: c h w, or h w c with layout=nhwc"),
        field<&A::weight>("weight", "o w1 w2 w3", floats,
                          "kernels: o c/groups r s, or o r s c/groups with nhwc"),
        field<&A::bias>("bias", "o", floats, "summand of each output channel"),
        field<&A::y>("y", "... y1 y2 y3", floats, "result: o p q, or p q o with nhwc"),
        option<&A::stride>("stride", 1, 1 << 20, "steps of the kernel: of both axes, or of rows and columns"),
        option<&A::padding>("padding", 0, 1 << 20, "zeros on each side, likewise"),
        option<&A::dilation>("dilation", 1, 1 << 20, "distance of the kernel's elements, likewise"),
        option<&A::groups>("groups", 1, std::int64_t(1) << 30, "parts of the channels that are kept apart"),
        option<&A::layout>("layout", "order of the axes of x, weight and y"),
        option<&A::activation>("activation", "applied to the sum"),
    };
  }
};

/// y[o, p, q] = activation(bias[o] + sum over c, r, s of weight[o, c, r, s] x[g c' + c, p stride - padding +
/// r dilation, q stride - padding + s dilation]) for each image, x being 0 outside the image: a cross-correlation, as
/// in torch. The o channels are in `groups` equal parts; part g sees the c' = c / groups channels from g c' on.
/// y has p = floor((h + 2 padding - dilation (r - 1) - 1) / stride) + 1 rows and likewise q columns, at least 1 each.
/// Dtypes: f64, f32, f16 or bf16, one for all. 16-bit inputs are multiplied and summed in f32, and y is rounded
/// once. Leading axes hold images. Same bits from run to run on one device, variant and number of threads.
/// Sources: Chellapilla, Puri & Simard 2006 (as a product of matrices); Chetlur et al. 2014 (implicit product).
extern const Op<Conv2dArgs> conv2d;
extern const Alias<Conv2dArgs> fused_conv_relu;

}  // namespace kolmo
