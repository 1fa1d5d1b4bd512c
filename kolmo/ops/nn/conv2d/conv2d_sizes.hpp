#pragma once
#include "kolmo/ops/nn/conv2d/conv2d.hpp"

namespace kolmo {

/// The sizes of a call. Rows of a kernel are weight.size() / o numbers: the channels of a group and the places in the
/// kernel, the latter first with nchw, the channels first with nhwc.
struct Conv2dSizes {
  struct Axis {
    std::int64_t in, kernel, stride, padding, dilation, out;
    /// The place in x of an output's kernel element 0; may be outside.
    KOLMO_HD std::int64_t begin(std::int64_t at) const { return at * stride - padding; }
  };
  std::int64_t images = 1, channels, outputs, groups, depth;  ///< depth: channels of a kernel
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
