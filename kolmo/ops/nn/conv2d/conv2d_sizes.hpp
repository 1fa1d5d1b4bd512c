#pragma once
#include "kolmo/ops/nn/conv2d/conv2d.hpp"

namespace kolmo {

/// The sizes of a call. A row of weights (one output channel) has weight.size() / o numbers, for the channels
/// of its group and the places in the kernel. With nchw places are contiguous, with nhwc channels.
struct Conv2dSizes {
  struct Axis {
    std::int64_t in, kernel, stride, padding, dilation, out;
    /// The place in x that element 0 of the kernel meets for an output; it may be outside the image.
    KOLMO_HD std::int64_t begin(std::int64_t at) const { return at * stride - padding; }
  };
  /// `depth`: channels of a kernel.
  std::int64_t images = 1, channels, outputs, groups, depth;
  Axis rows, columns;
  bool nhwc;

  explicit Conv2dSizes(const Conv2dArgs& a)
      : channels(a.x.dim(a.layout == ImageLayout::nhwc ? -1 : -3)),
        outputs(a.weight.dim(0)),
        groups(a.groups),
        depth(a.weight.dim(a.layout == ImageLayout::nhwc ? -1 : -3)),
        rows(axis(a, 0)),
        columns(axis(a, 1)),
        nhwc(a.layout == ImageLayout::nhwc) {
    for (int i = 0; i < a.x.rank - 3; ++i) images *= a.x.dim(i);
  }
  std::int64_t terms() const { return depth * rows.kernel * columns.kernel; }
  std::int64_t pixels() const { return rows.out * columns.out; }
  std::int64_t group_outputs() const { return outputs / groups; }

 private:
  static Axis axis(const Conv2dArgs& a, int i) {
    const auto of = [i](const Integers& list) { return list[list.size() > 1 ? i : 0]; };
    const int d = a.layout == ImageLayout::nhwc ? i - 3 : i - 2;
    Axis x{a.x.dim(d), a.weight.dim(d), of(a.stride), of(a.padding), of(a.dilation), 0};
    const std::int64_t room = x.in + 2 * x.padding - x.dilation * (x.kernel - 1) - 1;
    x.out = room < 0 ? 0 : room / x.stride + 1;
    return x;
  }
};

}  // namespace kolmo
