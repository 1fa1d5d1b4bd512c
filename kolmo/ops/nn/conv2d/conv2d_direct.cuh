#pragma once
// conv2d without matrix products, for groups of few output channels, which would fill a small part of a tile:
// each thread sums `conv_strip` neighbouring outputs.
#include "kolmo/base/convert.hpp"
#include "kolmo/ops/nn/conv2d/conv2d_problem.cuh"

namespace kolmo {
namespace {

constexpr int conv_strip = 4, conv_direct_block = 256;
constexpr int conv_shared_kernels = 48 << 10;  // shared memory for kernels, in bytes

/// One of the two axes of the outputs. `step`, `kernel_step` and `out_step` are the distances of neighbours
/// along it in x, in the kernel and in y.
struct ConvAxis {
  int in, kernel, stride, padding, dilation, out;
  std::int64_t step, kernel_step, out_step;
  ConvAxis(const Conv2dSizes::Axis& a, std::int64_t x_step, std::int64_t weight_step, std::int64_t y_step)
      : in(int(a.in)),
        kernel(int(a.kernel)),
        stride(int(a.stride)),
        padding(int(a.padding)),
        dilation(int(a.dilation)),
        out(int(a.out)),
        step(x_step),
        kernel_step(weight_step),
        out_step(y_step) {}
};

/// A strip is a run of outputs of one thread. Neighbouring threads read neighbours on the other axis, which
/// are contiguous in memory. So strips go down a column with nchw, and along a row with nhwc.
struct ConvStrips {
  ConvAxis along, across;
  std::int64_t count;  ///< in all images and channels
  int high;            ///< strips along one line of outputs
  explicit ConvStrips(const Conv2dSizes& s)
      : along(axis(s, s.nhwc)), across(axis(s, !s.nhwc)), high((along.out + conv_strip - 1) / conv_strip) {
    count = s.images * s.outputs * high * across.out;
  }

 private:
  static ConvAxis axis(const Conv2dSizes& s, bool columns) {
    const std::int64_t x = s.nhwc ? s.channels : 1, weight = s.nhwc ? s.depth : 1, y = s.nhwc ? s.outputs : 1;
    if (columns) return {s.columns, x, weight, y};
    return {s.rows, s.columns.in * x, s.columns.kernel * weight, s.columns.out * y};
  }
};

/// Adds terms to the sums of a strip: those of one channel, and of one place of the kernel on the axis across
/// the strip. kernel(i) is the element of the kernel at place i along the strip. Tight: there are three such
/// elements, and these and the outputs are one pixel apart, so that pixels are read once for all.
template <bool Tight, class S, class T, class Kernel>
__device__ void add_terms(S (&sum)[conv_strip], const T* x, const ConvAxis& along, int first,
                          const Kernel& kernel) {
  if constexpr (Tight) {
    Pack<T, 2 * conv_strip> pixels{};
#pragma unroll
    for (int j = 0; j < conv_strip + 2; ++j)
      pixels.value[j] =
          unsigned(first) + unsigned(j) < unsigned(along.in) ? x[(first + j) * along.step] : T(0.0f);
    const auto values = widened(pixels);
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      const S factor = kernel(i);
#pragma unroll
      for (int j = 0; j < conv_strip; ++j) sum[j] += factor * values.value[i + j];
    }
  } else {
    for (int i = 0; i < along.kernel; ++i, first += along.dilation) {
      const S factor = kernel(i);
#pragma unroll
      for (int j = 0; j < conv_strip; ++j) {
        const unsigned at = unsigned(first) + unsigned(j * along.stride);
        if (at < unsigned(along.in)) sum[j] += factor * S(x[at * along.step]);
      }
    }
  }
}

/// shared: the kernels fit in shared memory, where those of neighbouring channels are neighbours. This needs
/// nhwc.
template <class T, bool Nhwc>
__global__ void __launch_bounds__(conv_direct_block)
    conv_direct(cuda::EarlyStart early, ConvProblem<T> c, ConvStrips strips, bool shared) {
  using S = Compute<T>;
  early.wait();
  S* const kernels = cuda::dynamic_shared<S>();
  if (shared) {
    for (int i = int(threadIdx.x); i < c.outputs * c.terms; i += conv_direct_block)
      kernels[i % c.terms * c.outputs + i / c.terms] = S(c.weight[i]);
    __syncthreads();
  }
  const ConvAxis &along = strips.along, &across = strips.across;
  const bool tight = along.kernel == 3 && along.stride == 1 && along.dilation == 1;
  const std::int64_t channel_step = Nhwc ? 1 : c.pixels;
  for (std::int64_t i = cuda::thread_index(); i < strips.count; i += cuda::thread_count()) {
    // The number i counts with nhwc the channel first, then strip and row; with nchw the column first, then
    // strip and channel; the image comes last.
    const int fast = Nhwc ? c.outputs : across.out, slow = Nhwc ? across.out : c.outputs;
    const std::int64_t line = quotient(i, fast), block = quotient(line, strips.high),
                       image = quotient(block, slow);
    const int at_fast = int(i - line * fast), strip = int(line - block * strips.high) * conv_strip,
              at_slow = int(block - image * slow), output = Nhwc ? at_fast : at_slow,
              other = Nhwc ? at_slow : at_fast, group = output / c.group_outputs;
    const int first = strip * along.stride - along.padding, begin = other * across.stride - across.padding;
    const T *x = c.x + image * c.image_size + group * c.depth * c.plane(),
            *weight = c.weight + std::int64_t(output) * c.terms;
    S sum[conv_strip] = {};
    for (int k = 0; k < c.depth; ++k, x += c.plane())
#pragma unroll 3
      for (int r = 0; r < across.kernel; ++r) {
        const int at = begin + r * across.dilation;
        if (unsigned(at) >= unsigned(across.in)) continue;
        const auto kernel = [&](int s) {
          const int term =
              int(s * along.kernel_step + r * across.kernel_step) + (Nhwc ? k : k * (c.terms / c.depth));
          return shared ? kernels[term * c.outputs + output] : S(weight[term]);
        };
        if (tight)
          add_terms<true>(sum, x + at * across.step, along, first, kernel);
        else
          add_terms<false>(sum, x + at * across.step, along, first, kernel);
      }
    const S bias = c.bias ? S(c.bias[output]) : S(0);
    T* const y = c.y + image * c.outputs * c.pixels + output * channel_step + strip * along.out_step +
                 other * across.out_step;
#pragma unroll
    for (int j = 0; j < conv_strip; ++j)
      if (strip + j < along.out) y[j * along.out_step] = T(activate(c.activation, sum[j] + bias));
  }
}

}  // namespace
}  // namespace kolmo
