#pragma once
// conv2d with nhwc and a group for each channel. A thread has a pack of channels and `conv_strip` columns of
// y, and goes down a band of rows.
#include <algorithm>

#include "kolmo/base/convert.hpp"
#include "kolmo/device/multiprocessors.cuh"
#include "kolmo/ops/nn/conv2d/conv2d_direct.cuh"

namespace kolmo {
namespace {

constexpr int depthwise_block = 128;

/// How the work is shared out. The number of a thread counts packs of channels first, then strips of columns,
/// bands of rows, and images.
template <class T>
struct DepthwisePlan {
  static constexpr int width = sizeof(T) == 8 ? 2 : 4;
  ConvAxis rows, columns;
  int packs, strips, band;  ///< `band`: the number of its rows
  std::int64_t bands, count;

  DepthwisePlan(const Conv2dSizes& s, int multiprocessors)
      : rows(s.rows, s.columns.in * s.channels, s.columns.kernel, s.columns.out * s.outputs),
        columns(s.columns, s.channels, 1, s.outputs),
        packs(int(s.outputs / width)),
        strips((columns.out + conv_strip - 1) / conv_strip) {
    // A band must read two more rows than it writes. So there are only as many bands as occupy the device.
    constexpr std::int64_t least = 4;
    const std::int64_t threads = std::int64_t(multiprocessors) * 4 * depthwise_block,
                       of_band = s.images * strips * packs,
                       wanted = std::max<std::int64_t>(1, threads / of_band);
    band = int(std::max((rows.out + wanted - 1) / wanted, least));
    bands = (rows.out + band - 1) / band;
    count = of_band * bands;
  }
  static bool fits(const Conv2dArgs& a) {
    const Conv2dSizes s(a);
    const auto aligned = [](const Tensor& t) {
      return reinterpret_cast<std::uintptr_t>(t.data) % sizeof(Pack<T, width>) == 0;
    };
    return s.nhwc && s.depth == 1 && s.group_outputs() == 1 && s.outputs % width == 0 &&
           a.activation <= Activation::relu && aligned(a.x) && aligned(a.y) && aligned(a.bias);
  }
};

/// Loads W elements if they are there, else zeros.
template <int W, class T>
__device__ Pack<T, W> load_if(bool there, const T* from) {
  // Words, since nvcc would select 16-bit elements one by one.
  using Words = Pack<std::uint32_t, int(sizeof(T)) * W / 4>;
  Words words{};
  if (there) words = *reinterpret_cast<const Words*>(from);
  return std::bit_cast<Pack<T, W>>(words);
}

template <class T>
__global__ void __launch_bounds__(depthwise_block, sizeof(T) == 2 ? 4 : 3)
    conv_depthwise(cuda::EarlyStart early, ConvProblem<T> c, DepthwisePlan<T> plan) {
  using S = Compute<T>;
  constexpr int W = DepthwisePlan<T>::width, strip = conv_strip;
  using Sums = Pack<S, W>;
  const ConvAxis &rows = plan.rows, &columns = plan.columns;
  const bool tight = rows.kernel == 3 && rows.stride == 1 && rows.dilation == 1 && columns.kernel == 3 &&
                     columns.stride == 1 && columns.dilation == 1;
  early.wait();
  for (std::int64_t i = cuda::thread_index(); i < plan.count; i += cuda::thread_count()) {
    const std::int64_t line = quotient(i, plan.packs), block = quotient(line, plan.strips),
                       image = quotient(block, plan.bands);
    const int channel = int(i - line * plan.packs) * W, column = int(line - block * plan.strips) * strip,
              row = int(block - image * plan.bands) * plan.band, count = std::min(plan.band, rows.out - row),
              left = column * columns.stride - columns.padding;
    const T* const x = c.x + image * c.image_size + channel;
    T* y = c.y + (image * c.pixels + std::int64_t(row) * columns.out + column) * c.outputs + channel;
    const T* const weight = c.weight + std::int64_t(channel) * c.terms;
    const Sums bias = c.bias ? widened(load_pack<W>(c.bias + channel)) : Sums{};
    const auto factor = [&](int term) {
      Sums s;
#pragma unroll
      for (int w = 0; w < W; ++w) s.value[w] = S(weight[w * c.terms + term]);
      return s;
    };
    const auto add = [](Sums& to, const Sums& a, const Sums& b) {
#pragma unroll
      for (int w = 0; w < W; ++w) to.value[w] += a.value[w] * b.value[w];
    };
    const auto finish = [&](Sums(&sum)[strip]) {
#pragma unroll
      for (int j = 0; j < strip; ++j) {
        if (c.activation == Activation::relu)
#pragma unroll
          for (S& v : sum[j].value) v = activate(Activation::relu, v);
        const auto rounded = narrowed<T>(sum[j]);
        if (column + j < columns.out) store_pack(y + j * columns.out_step, rounded);
      }
      y += rows.out_step;
    };
    // Each row of x that is read serves three rows of y at once, and each pixel several neighbouring outputs.
    if (tight) {
      Sums kernel[9], sum[3][strip];
#pragma unroll
      for (int term = 0; term < 9; ++term) kernel[term] = factor(term);
      unsigned there = 0;
#pragma unroll
      for (int j = 0; j < strip + 2; ++j)
        there |= unsigned(unsigned(left) + unsigned(j) < unsigned(columns.in)) << j;
      const int top = row - rows.padding;
      const T* from = x + top * rows.step + left * columns.step;
      for (int first = 0; first < count + 2; first += 3)
#pragma unroll
        for (int t = 0; t < 3; ++t, from += rows.step) {
          if (first + t >= count + 2) break;
          const bool inside = unsigned(top) + unsigned(first + t) < unsigned(rows.in);
          Pack<T, W> pixels[strip + 2];
#pragma unroll
          for (int j = 0; j < strip + 2; ++j)
            pixels[j] = load_if<W>(inside && there >> j & 1, from + j * columns.step);
#pragma unroll
          for (auto& s : sum[t]) s = bias;
#pragma unroll
          for (int j = 0; j < strip + 2; ++j) {
            const Sums pixel = widened(pixels[j]);
#pragma unroll
            for (int r = 0; r < 3; ++r)
#pragma unroll
              for (int s = 0; s < 3; ++s)
                if (j - s >= 0 && j - s < strip) add(sum[(t - r + 3) % 3][j - s], kernel[r * 3 + s], pixel);
          }
          if (first + t >= 2) finish(sum[(t + 1) % 3]);
        }
      continue;
    }
#pragma unroll 1
    for (int p = row; p < row + count; ++p) {
      Sums sum[strip] = {bias, bias, bias, bias};
#pragma unroll 1
      for (int r = 0; r < rows.kernel; ++r) {
        const int at = p * rows.stride - rows.padding + r * rows.dilation;
        if (unsigned(at) >= unsigned(rows.in)) continue;
#pragma unroll 1
        for (int s = 0; s < columns.kernel; ++s) {
          const Sums of_place = factor(r * columns.kernel + s);
#pragma unroll
          for (int j = 0; j < strip; ++j) {
            const int of_pixel = left + j * columns.stride + s * columns.dilation;
            const bool there = unsigned(of_pixel) < unsigned(columns.in);
            add(sum[j], of_place, widened(load_if<W>(there, x + at * rows.step + of_pixel * columns.step)));
          }
        }
      }
      finish(sum);
    }
  }
}

template <class T>
void launch_depthwise(const Conv2dArgs& a, Stream& s) {
  const DepthwisePlan<T> plan(Conv2dSizes(a), cuda::multiprocessors(a.y.device.index));
  cuda::launch_early(conv_depthwise<T>, cuda::blocks(plan.count, depthwise_block), depthwise_block, 0,
                     cuda::native(s), ConvProblem<T>(a, nullptr), plan);
}

}  // namespace
}  // namespace kolmo
