#pragma once
// The sums of conv2d as a product of two matrices: the kernels, with a row for each output channel and a
// column for each term, and the pixels that they meet, with a row for each term and a column for each output
// pixel of all images. The second matrix is never formed.
#include <climits>

#include "kolmo/base/pack.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/ops/nn/conv2d/conv2d_sizes.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

/// The place of term k of a sum, relative to the first term.
struct alignas(16) ConvTerm {
  std::int64_t offset;
  int row, column;
};

/// The place of the first term of a pixel's sum, which may be outside the image.
struct ConvPixel {
  std::int64_t offset;
  int row, column;
};

template <class T>
struct ConvProblem {
  using S = Compute<T>;
  const T *x, *weight, *bias;
  T* y;
  const ConvTerm* term;
  /// image_size, row_size and column_size are distances in x.
  std::int64_t all_pixels, pixels, image_size, row_size, column_size;
  int terms, outputs, group_outputs, depth, out_columns, rows, columns;
  int row_stride, column_stride, row_padding, column_padding;
  Activation activation;
  bool nhwc, packs;  ///< packs: neighbours in y can be written 16 bytes at once

  ConvProblem(const Conv2dArgs& a, const ConvTerm* t)
      : x(a.x.as<T>()),
        weight(a.weight.as<T>()),
        bias(a.bias.given() ? a.bias.as<T>() : nullptr),
        y(a.y.as<T>()),
        term(t),
        activation(a.activation) {
    const Conv2dSizes s(a);
    pixels = s.pixels(), all_pixels = s.images * pixels;
    nhwc = s.nhwc;
    column_size = nhwc ? s.channels : 1;
    row_size = s.columns.in * column_size;
    image_size = s.channels * s.rows.in * s.columns.in;
    terms = int(s.terms()), outputs = int(s.outputs), group_outputs = int(s.group_outputs()),
    depth = int(s.depth);
    out_columns = int(s.columns.out), rows = int(s.rows.in), columns = int(s.columns.in);
    row_stride = int(s.rows.stride), column_stride = int(s.columns.stride);
    row_padding = int(s.rows.padding), column_padding = int(s.columns.padding);
    packs = packed_rows<T>(2, nhwc ? group_outputs : pixels, y);
  }
  KOLMO_HD std::int64_t plane() const { return nhwc ? 1 : std::int64_t(rows) * columns; }

  /// Describes output pixel p of all images, as seen by a group. If there is no such pixel, all its terms lie
  /// outside the image.
  __device__ ConvPixel pixel(std::int64_t p, int group) const {
    if (p >= all_pixels) return {0, INT_MIN, 0};
    const std::int64_t image = p / pixels;
    const int in_image = int(p - image * pixels), row = in_image / out_columns * row_stride - row_padding,
              column = in_image % out_columns * column_stride - column_padding;
    return {image * image_size + group * depth * plane() + row * row_size + column * column_size, row,
            column};
  }
  __device__ bool inside(const ConvPixel& p, const ConvTerm& t) const {
    return (unsigned(p.row + t.row) < unsigned(rows)) & (unsigned(p.column + t.column) < unsigned(columns));
  }
  /// Returns where y has the first channel of a group at pixel p of all images. The following channels are
  /// channel_step() apart.
  __device__ std::int64_t place(std::int64_t p, int group) const {
    if (nhwc) return p * outputs + group * group_outputs;
    const std::int64_t image = quotient(p, pixels);
    return (image * outputs + group * group_outputs) * pixels + (p - image * pixels);
  }
  __device__ std::int64_t channel_step() const { return nhwc ? 1 : pixels; }
  /// Writes the sum of an output channel of a group at pixel p of all images.
  __device__ void finish(std::int64_t p, int group, int output, S sum) const {
    if (p >= all_pixels || output >= group_outputs) return;
    const int channel = group * group_outputs + output;
    if (bias) sum += S(bias[channel]);
    y[place(p, group) + output * channel_step()] = T(activate(activation, sum));
  }
};

/// The tile that a block computes: `rows` output channels of a group by `columns` pixels.
struct ConvTile {
  int group, output;
  std::int64_t pixel;
  template <class T>
  __device__ ConvTile(const ConvProblem<T>& c, std::int64_t tile, int rows, int columns) {
    const int high = (c.group_outputs + rows - 1) / rows;
    const std::int64_t wide = (c.all_pixels + columns - 1) / columns;
    output = int(tile % high) * rows;
    pixel = tile / high % wide * columns;
    group = int(tile / high / wide);
  }
};

__global__ void __launch_bounds__(256)
    list_terms(cuda::EarlyStart early, ConvTerm* term, int terms, int depth, int kernel_rows,
               int kernel_columns, int row_dilation, int column_dilation, std::int64_t plane,
               std::int64_t row_size, std::int64_t column_size, bool nhwc) {
  early.wait();
  for (std::int64_t k = cuda::thread_index(); k < terms; k += cuda::thread_count()) {
    const int i = int(k), place = nhwc ? i / depth : i % (kernel_rows * kernel_columns),
              c = nhwc ? i % depth : i / (kernel_rows * kernel_columns);
    const int row = place / kernel_columns * row_dilation, column = place % kernel_columns * column_dilation;
    term[k] = {c * plane + row * row_size + column * column_size, row, column};
  }
}

}  // namespace
}  // namespace kolmo
