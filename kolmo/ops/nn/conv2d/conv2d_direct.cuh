#pragma once
// conv2d where a group has few output channels, which would fill a small part of a tile: a thread sums `conv_strip`
// neighbouring outputs by itself. Anonymous namespace: see device/grid.cuh.
#include "kolmo/ops/nn/conv2d/conv2d_problem.cuh"

namespace kolmo {
namespace {

constexpr int conv_strip = 4, conv_direct_block = 256;

/// What ConvProblem leaves to its list of terms.
struct ConvWindow {
  int rows, columns, row_dilation, column_dilation, out_rows;
  explicit ConvWindow(const Conv2dSizes& s)
      : rows(int(s.rows.kernel)),
        columns(int(s.columns.kernel)),
        row_dilation(int(s.rows.dilation)),
        column_dilation(int(s.columns.dilation)),
        out_rows(int(s.rows.out)) {}
};

/// Strips lie across the axis along which threads read: outputs below each other with nchw, next to each other with nhwc.
inline std::int64_t conv_strips(const Conv2dSizes& s) {
  const std::int64_t along = s.nhwc ? s.outputs * s.rows.out : s.outputs * s.columns.out,
                     across = s.nhwc ? s.columns.out : s.rows.out;
  return s.images * along * ((across + conv_strip - 1) / conv_strip);
}

template <class T, bool Nhwc>
__global__ void __launch_bounds__(conv_direct_block)
    conv_direct(cuda::EarlyStart early, ConvProblem<T> c, ConvWindow window, std::int64_t strips) {
  using S = Compute<T>;
  early.wait();
  const int fast = Nhwc ? c.outputs : c.out_columns,
            high = ((Nhwc ? c.out_columns : window.out_rows) + conv_strip - 1) / conv_strip,
            slow = Nhwc ? window.out_rows : c.outputs;
  const std::int64_t next =
      Nhwc ? c.column_stride * c.column_size : c.row_stride * c.row_size;  // to the next output's pixel
  for (std::int64_t i = cuda::thread_index(); i < strips; i += cuda::thread_count()) {
    const std::int64_t line = quotient(i, fast), block = quotient(line, high), image = quotient(block, slow);
    const int at_fast = int(i - line * fast), across = int(line - block * high) * conv_strip,
              at_slow = int(block - image * slow);
    const int output = Nhwc ? at_fast : at_slow, row = Nhwc ? at_slow : across,
              column = Nhwc ? across : at_fast, group = output / c.group_outputs;
    const int top = row * c.row_stride - c.row_padding, left = column * c.column_stride - c.column_padding;
    const T *x = c.x + image * c.image_size + group * c.depth * c.plane(),
            *weight = c.weight + std::int64_t(output) * c.terms;
    S sum[conv_strip] = {};
    for (int k = 0; k < c.depth; ++k, x += c.plane())
      for (int r = 0; r < window.rows; ++r) {
        const int h = top + r * window.row_dilation;
        for (int s = 0; s < window.columns; ++s) {
          const int w = left + s * window.column_dilation, place = r * window.columns + s;
          const S factor = S(weight[Nhwc ? place * c.depth + k : k * window.rows * window.columns + place]);
          const T* const from = x + h * c.row_size + w * c.column_size;
#pragma unroll
          for (int j = 0; j < conv_strip; ++j) {
            const bool inside = Nhwc ? unsigned(h) < unsigned(c.rows) &&
                                           unsigned(w) + unsigned(j * c.column_stride) < unsigned(c.columns)
                                     : unsigned(h) + unsigned(j * c.row_stride) < unsigned(c.rows) &&
                                           unsigned(w) < unsigned(c.columns);
            if (inside) sum[j] += factor * S(from[j * next]);
          }
        }
      }
#pragma unroll
    for (int j = 0; j < conv_strip; ++j) {
      const int p = Nhwc ? row : row + j, q = Nhwc ? column + j : column;
      if (p < window.out_rows && q < c.out_columns)
        c.finish(image * c.pixels + std::int64_t(p) * c.out_columns + q, group,
                 output - group * c.group_outputs, sum[j]);
    }
  }
}

}  // namespace
}  // namespace kolmo
