#pragma once
// conv2d of images with channels last on Hopper's tensor cores: f16 or bf16 factors, sums in f32. It is the
// product of a matrix of pixels by terms and one of terms by output channels, as matmul computes it. The copy
// engine gathers the pixels under each element of the kernel.
#include <algorithm>
#include <climits>

#include "kolmo/device/spread.cuh"
#include "kolmo/ops/dense/matmul/warpgroup_tiles.cuh"
#include "kolmo/ops/nn/conv2d/conv2d_sizes.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

/// Copies pieces of 64 channels, for one element of the kernel after the other.
struct ImageSource {
  static constexpr bool along_a = true, along_b = true;
  cuda::TensorMap x, weight;
  int chunks;  ///< groups of 64 channels
  int kernel_columns, out_pixels, out_columns;
  int row_stride, column_stride, row_padding, column_padding, row_dilation, column_dilation;

  __device__ void prefetch() const {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    cuda::prefetch(x), cuda::prefetch(weight);
#endif
  }
  template <int Shape>
  __device__ void copy(std::uint32_t to_a, std::uint32_t to_b, std::uint32_t barrier, int step, int pixel,
                       int output, int, int) const {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    const int image = pixel / out_pixels, at = pixel - image * out_pixels, row = at / out_columns,
              column = at - row * out_columns;
    const int element = step / chunks, channel = (step - element * chunks) * 64,
              down = element / kernel_columns, right = element - down * kernel_columns;
    cuda::copy_pixels(to_a, x, barrier, channel, column * column_stride - column_padding,
                      row * row_stride - row_padding, image, right * column_dilation, down * row_dilation);
    cuda::copy_box<1>(to_b, weight, barrier, channel, output, element);
#endif
  }
};

cuda::BoxedImages boxes_of(const Conv2dArgs& a, const Conv2dSizes& s, int box_pixels) {
  const auto axis = [](const Conv2dSizes::Axis& x) {
    return cuda::BoxedImages::Axis{x.in, x.stride, x.padding, x.dilation * (x.kernel - 1)};
  };
  return {a.x.data, s.images, axis(s.rows), axis(s.columns), s.channels, box_pixels};
}

bool conv_warpgroups_fit(const Conv2dArgs& a) {
#ifdef KOLMO_SM90A
  const Conv2dSizes s(a);
  const auto aligned = [](const Tensor& t) { return reinterpret_cast<std::uintptr_t>(t.data) % 16 == 0; };
  const cuda::BoxedImages boxes = boxes_of(a, s, 0);
  return size_of(a.x.dtype) == 2 && a.x.size() > 0 && s.nhwc && s.groups == 1 && s.channels % 8 == 0 &&
         aligned(a.x) && aligned(a.weight) && boxes.rows.fits() && boxes.columns.fits() &&
         s.images * s.pixels() < (std::int64_t(1) << 31) - 512 &&
         s.rows.kernel * s.columns.kernel * ((s.channels + 63) / 64) < INT_MAX / 64 &&
         cuda::is_hopper(a.x.device.index);
#else
  return (void)a, false;
#endif
}

template <class T, int Shape>
void launch_conv_warpgroups(const Conv2dArgs& a, Stream& stream) {
  constexpr WarpgroupShape shape = warpgroup_shapes[Shape];
  const Conv2dSizes s(a);
  const std::int64_t elements = s.rows.kernel * s.columns.kernel, chunks = (s.channels + 63) / 64,
                     pixels = s.images * s.pixels();
  const std::int64_t tiles =
      (pixels + shape.rows - 1) / shape.rows * ((s.outputs + shape.columns - 1) / shape.columns);
  const Gemm<T> g{.bias = a.bias.given() ? a.bias.as<T>() : nullptr,
                  .y = a.y.data,
                  .batch = 1,
                  .m = int(pixels),
                  .n = int(s.outputs),
                  .k = int(elements * chunks) * shape.depth,
                  .parts = 1,
                  .alpha = 1,
                  .activation = a.activation};
  const ImageSource source{.x = cuda::image_map(boxes_of(a, s, shape.rows)),
                           .weight = cuda::tensor_map({a.weight.data, elements, s.outputs, s.channels,
                                                       shape.columns, elements * s.channels, s.channels}),
                           .chunks = int(chunks),
                           .kernel_columns = int(s.columns.kernel),
                           .out_pixels = int(s.pixels()),
                           .out_columns = int(s.columns.out),
                           .row_stride = int(s.rows.stride),
                           .column_stride = int(s.columns.stride),
                           .row_padding = int(s.rows.padding),
                           .column_padding = int(s.columns.padding),
                           .row_dilation = int(s.rows.dilation),
                           .column_dilation = int(s.columns.dilation)};
  const bool packs = s.outputs % 8 == 0 && reinterpret_cast<std::uintptr_t>(a.y.data) % 16 == 0;
  const auto blocks = unsigned(std::min<std::int64_t>(tiles, cuda::multiprocessors(a.y.device.index)));
  cuda::launch_spread(warpgroup_tiles<T, Shape, ImageSource>, blocks, shape.threads(),
                      WarpgroupMemory<Shape>::bytes, stream, g, writing_of(packs, a.bias, false), tiles,
                      source);
}

}  // namespace
}  // namespace kolmo
