#pragma once
#include <algorithm>
#include <limits>

#include "kolmo/op/impl.hpp"
#include "kolmo/ops/nn/conv2d/conv2d_sizes.hpp"
#include "kolmo/runtime/cpu/convert.hpp"

namespace kolmo {

/// conv2d without matrix products, for groups of few output channels, where a product would spend its time
/// laying out terms. An item is a row of y: that of one channel with nchw, of all channels with nhwc.
template <class T>
class DirectRows {
 public:
  using S = Compute<T>;

  static bool fits(const Conv2dSizes& s) { return s.groups > 1 && s.group_outputs() < 4; }

  DirectRows(Arena& arena, const Conv2dArgs& a, int threads)
      : a_(a),
        s_(a),
        lines_(arena.take<S>(threads * of_thread())),
        kernels_(s_.nhwc ? arena.take<S>(a.weight.size()) : nullptr) {}

  /// Reorders the kernels by place, then channel, so that those of neighbouring outputs are neighbours.
  void turn_kernels() const {
    for (std::int64_t i = 0; s_.nhwc && i < a_.weight.size(); ++i)
      kernels_[i % s_.terms() * s_.outputs + i / s_.terms()] = S(a_.weight.as<T>()[i]);
  }
  std::int64_t count() const { return s_.images * s_.rows.out * (s_.nhwc ? 1 : s_.outputs); }
  void operator()(std::int64_t item, int thread) const {
    S* const lines = lines_ + thread * of_thread();
    by_instruction_set(
        [&] { s_.nhwc ? row_of_pixels(item, lines, lines + s_.outputs) : row_of_channel(item, lines); });
  }

 private:
  static constexpr bool narrow_type = !std::is_same_v<S, T>;

  static constexpr int block = 16;  // pixels that are computed together

  /// Length of a row of x with the zeros around it, as far as whole blocks of y need it.
  std::int64_t line_size() const {
    const auto& c = s_.columns;
    return ((c.out + block - 1) / block * block - 1) * c.stride + (c.kernel - 1) * c.dilation + 1;
  }
  /// Numbers that a thread needs: with nchw the lines of a row's terms, with nhwc the sums of a pixel and a
  /// pixel of x.
  std::int64_t of_thread() const {
    return s_.nhwc ? s_.outputs + s_.channels : s_.depth * s_.rows.kernel * line_size();
  }
  /// Converts n elements of x to the type of sums.
  static const S* widened(const T* x, std::int64_t n, S* wide) {
    if constexpr (!narrow_type) return x;
    if constexpr (narrow_type) widen(x, n, wide);
    return wide;
  }
  void finish(const S* sum, std::int64_t n, T* y) const {
    if (a_.activation > Activation::relu) {
      for (std::int64_t i = 0; i < n; ++i) y[i] = T(activate(a_.activation, sum[i]));
      return;
    }
    const S least = a_.activation == Activation::relu ? S(0) : -std::numeric_limits<S>::infinity();
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = T(sum[i] < least ? least : sum[i]);
  }
  static bool inside(std::int64_t at, const Conv2dSizes::Axis& axis) { return at >= 0 && at < axis.in; }

  void row_of_channel(std::int64_t item, S* lines) const {
    const auto &rows = s_.rows, &columns = s_.columns;
    const std::int64_t p = item % rows.out, output = item / rows.out % s_.outputs,
                       image = item / rows.out / s_.outputs, n = columns.out, of_line = line_size(),
                       before = std::min(columns.padding, of_line),
                       copied = std::min(columns.in, of_line - before);
    const T* x =
        a_.x.as<T>() + (image * s_.channels + output / s_.group_outputs() * s_.depth) * rows.in * columns.in;
    S* line = lines;
    for (std::int64_t k = 0; k < s_.depth; ++k, x += rows.in * columns.in)
      for (std::int64_t r = 0; r < rows.kernel; ++r, line += of_line) {
        const std::int64_t h = rows.begin(p) + r * rows.dilation, found = inside(h, rows) ? copied : 0;
        std::fill_n(line, before, S(0));
        if (found) widen(x + h * columns.in, found, line + before);
        std::fill(line + before + found, line + of_line, S(0));
      }
    const T* const kernel = a_.weight.as<T>() + output * s_.terms();
    const S bias = a_.bias.given() ? S(a_.bias.as<T>()[output]) : S(0);
    T* const y = a_.y.as<T>() + ((image * s_.outputs + output) * rows.out + p) * n;
    for (std::int64_t first = 0; first < n; first += block) {
      S sum[block] = {};
      const auto add_terms = [&](auto stride) {
        const S* from = lines + first * stride;
        for (std::int64_t l = 0, term = 0; l < s_.depth * rows.kernel; ++l, from += of_line)
          for (std::int64_t c = 0; c < columns.kernel; ++c, ++term) {
            const S factor = S(kernel[term]), *const at = from + c * columns.dilation;
#pragma omp simd
            for (int i = 0; i < block; ++i) sum[i] += factor * at[i * stride];
          }
      };
      columns.stride == 1 ? add_terms(std::integral_constant<std::int64_t, 1>()) : add_terms(columns.stride);
      for (S& v : sum) v += bias;
      finish(sum, std::min<std::int64_t>(block, n - first), y + first);
    }
  }

  void row_of_pixels(std::int64_t item, S* sum, S* wide) const {
    const auto &rows = s_.rows, &columns = s_.columns;
    const std::int64_t p = item % rows.out, image = item / rows.out, n = s_.outputs,
                       of_group = s_.group_outputs();
    const T* const bias = a_.bias.given() ? a_.bias.as<T>() : nullptr;
    T* y = a_.y.as<T>() + item * columns.out * n;
    for (std::int64_t q = 0; q < columns.out; ++q, y += n) {
      std::fill_n(sum, n, S(0));
      for (std::int64_t r = 0; r < rows.kernel; ++r)
        for (std::int64_t c = 0; c < columns.kernel; ++c) {
          const std::int64_t h = rows.begin(p) + r * rows.dilation,
                             w = columns.begin(q) + c * columns.dilation;
          if (!inside(h, rows) || !inside(w, columns)) continue;
          const S* const from = widened(a_.x.as<T>() + ((image * rows.in + h) * columns.in + w) * s_.channels,
                                        s_.channels, wide);
          const S* factor = kernels_ + (r * columns.kernel + c) * s_.depth * n;
          for (std::int64_t k = 0; k < s_.depth; ++k, factor += n) {
            if (s_.depth == 1 && of_group == 1) {
#pragma omp simd
              for (std::int64_t o = 0; o < n; ++o) sum[o] += factor[o] * from[o];
            } else {
              for (std::int64_t o = 0; o < n; ++o) sum[o] += factor[o] * from[o / of_group * s_.depth + k];
            }
          }
        }
      if (bias) {
#pragma omp simd
        for (std::int64_t o = 0; o < n; ++o) sum[o] += S(bias[o]);
      }
      finish(sum, n, y);
    }
  }

  const Conv2dArgs& a_;
  Conv2dSizes s_;
  S *lines_, *kernels_;
};

}  // namespace kolmo
