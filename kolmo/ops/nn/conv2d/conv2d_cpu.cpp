#include "kolmo/ops/nn/conv2d/conv2d_cpu.hpp"

#include <algorithm>
#include <type_traits>

#include "kolmo/ops/nn/conv2d/conv2d_direct_cpu.hpp"
#include "kolmo/runtime/cpu/blas.hpp"
#include "kolmo/runtime/cpu/convert.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = Conv2dArgs;

/// Computes pieces of `width` pixels of one image and one group. The terms of a piece are a matrix: with nchw
/// it has a row of pixels for each of `terms` terms, with nhwc a row of terms for each pixel.
template <class T>
class Pieces {
 public:
  using S = Compute<T>;

  Pieces(Arena& arena, const A& a, int threads)
      : a_(a),
        s_(a),
        width_(width(s_)),
        per_image_((s_.pixels() + width_ - 1) / width_),
        kernels_(narrow_type ? arena.take<S>(a.weight.size()) : nullptr),
        terms_(arena.take<S>(threads * s_.terms() * width_)),
        sums_(narrow_type ? arena.take<S>(threads * s_.group_outputs() * width_) : nullptr) {}

  void widen_kernels() const {
    if constexpr (narrow_type) widen(a_.weight.as<T>(), a_.weight.size(), kernels_);
  }
  std::int64_t count() const { return s_.images * s_.groups * per_image_; }

  void operator()(std::int64_t piece, int thread) const {
    const std::int64_t first = piece % per_image_ * width_, n = std::min(width_, s_.pixels() - first),
                       group = piece / per_image_ % s_.groups, image = piece / per_image_ / s_.groups;
    S* const terms = terms_ + thread * s_.terms() * width_;
    const T* const x = a_.x.as<T>() + image * s_.channels * s_.rows.in * s_.columns.in;
    const std::int64_t outputs = s_.group_outputs(), k = s_.terms(), step = std::max<std::int64_t>(k, 1);
    const S* kernels;
    if constexpr (narrow_type)
      kernels = kernels_;
    else
      kernels = a_.weight.as<T>();
    kernels += group * outputs * k;
    T* const y = a_.y.as<T>() + image * s_.outputs * s_.pixels() +
                 (s_.nhwc ? first * s_.outputs + group * outputs : group * outputs * s_.pixels() + first);
    const std::int64_t row = s_.nhwc ? s_.outputs : s_.pixels();  // distance of rows of y
    S* sum;
    std::int64_t sum_row = row;
    if constexpr (narrow_type)
      sum = sums_ + thread * outputs * width_, sum_row = s_.nhwc ? outputs : width_;
    else
      sum = y;
    const S* from = terms;
    std::int64_t from_row = s_.nhwc ? step : n;
    if (const S* const own = pixels_as_terms(x, group, first))
      from = own, from_row = s_.nhwc ? s_.channels : s_.pixels();
    else if (s_.nhwc)
      gather_pixels(x, group, first, n, terms);
    else
      gather_rows(x, group, first, n, terms);
    if (s_.nhwc) {
      gemm({false, true, int(n), int(outputs), int(k)}, 1, from, from_row, kernels, step, 0, sum, sum_row);
      finish(sum, sum_row, n, outputs, y, row, group * outputs);
    } else {
      gemm({false, false, int(outputs), int(n), int(k)}, 1, kernels, step, from, from_row, 0, sum, sum_row);
      finish(sum, sum_row, outputs, n, y, row, group * outputs);
    }
  }

 private:
  static constexpr bool narrow_type = !std::is_same_v<S, T>;

  /// Pixels of a piece: about 2^17 terms, which fit in the cache beside the kernels, and at least 32 pixels.
  static std::int64_t width(const Conv2dSizes& s) {
    const std::int64_t most = std::max<std::int64_t>(32, (1 << 17) / std::max<std::int64_t>(s.terms(), 1));
    return std::max<std::int64_t>(1, std::min(s.pixels(), most));
  }

  /// Returns the terms where x itself holds them, or null. It does for kernels of one element, without stride
  /// or padding.
  const S* pixels_as_terms(const T* x, std::int64_t group, std::int64_t first) const {
    const auto same = [](const auto& d) {
      return d.kernel == 1 && d.stride == 1 && d.begin(0) == 0 && d.out == d.in;
    };
    if constexpr (narrow_type)
      return nullptr;
    else if (!same(s_.rows) || !same(s_.columns) || s_.depth == 0)
      return nullptr;
    else
      return x + (s_.nhwc ? first * s_.channels + group * s_.depth : group * s_.depth * s_.pixels() + first);
  }

  /// Gathers rows of n pixels, one for each element of the kernel.
  void gather_rows(const T* x, std::int64_t group, std::int64_t first, std::int64_t n, S* to) const {
    const auto &rows = s_.rows, &columns = s_.columns;
    for (std::int64_t c = 0; c < s_.depth; ++c)
      for (std::int64_t r = 0; r < rows.kernel; ++r)
        for (std::int64_t k = 0; k < columns.kernel; ++k, to += n) {
          const T* const plane = x + (group * s_.depth + c) * rows.in * columns.in;
          for (std::int64_t i = 0; i < n;) {
            const std::int64_t p = (first + i) / columns.out, q = (first + i) % columns.out,
                               run = std::min(n - i, columns.out - q), h = rows.begin(p) + r * rows.dilation;
            if (h < 0 || h >= rows.in)
              std::fill_n(to + i, run, S(0));
            else
              gather_run(plane + h * columns.in, columns.begin(q) + k * columns.dilation, run, to + i);
            i += run;
          }
        }
  }
  /// Gathers n elements of a row from w on, a stride apart, and 0 outside the image.
  void gather_run(const T* row, std::int64_t w, std::int64_t n, S* to) const {
    const std::int64_t stride = s_.columns.stride, in = s_.columns.in;
    const std::int64_t before = std::clamp<std::int64_t>(w < 0 ? (-w + stride - 1) / stride : 0, 0, n),
                       end = std::clamp<std::int64_t>(w < in ? (in - 1 - w) / stride + 1 : 0, before, n);
    std::fill_n(to, before, S(0));
    if (end > before) copy_run(row + (w + before * stride), stride, end - before, to + before);
    std::fill_n(to + end, n - end, S(0));
  }
  static void copy_run(const T* from, std::int64_t stride, std::int64_t n, S* to) {
    const auto each = [=](auto step) { in_vectors(n, [=](std::int64_t i) { to[i] = S(from[i * step]); }); };
    if (stride == 1)
      widen(from, n, to);
    else if (stride == 2)
      each(std::integral_constant<std::int64_t, 2>());
    else
      each(stride);
  }
  /// Gathers rows of terms, one for each pixel.
  void gather_pixels(const T* x, std::int64_t group, std::int64_t first, std::int64_t n, S* to) const {
    const auto &rows = s_.rows, &columns = s_.columns;
    for (std::int64_t i = first; i < first + n; ++i)
      for (std::int64_t r = 0; r < rows.kernel; ++r)
        for (std::int64_t k = 0; k < columns.kernel; ++k, to += s_.depth) {
          const std::int64_t h = rows.begin(i / columns.out) + r * rows.dilation,
                             w = columns.begin(i % columns.out) + k * columns.dilation;
          if (h < 0 || h >= rows.in || w < 0 || w >= columns.in)
            std::fill_n(to, s_.depth, S(0));
          else
            widen(x + (h * columns.in + w) * s_.channels + group * s_.depth, s_.depth, to);
        }
  }
  /// Computes y = activation(sum + bias) for m rows of n.
  void finish(const S* sum, std::int64_t sum_row, std::int64_t m, std::int64_t n, T* y, std::int64_t row,
              std::int64_t channel) const {
    const T* const bias = a_.bias.given() ? a_.bias.as<T>() + channel : nullptr;
    if (!narrow_type && !bias && a_.activation == Activation::none) return;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const S b = bias ? S(bias[s_.nhwc ? j : i]) : S(0);
        y[i * row + j] = T(activate(a_.activation, sum[i * sum_row + j] + b));
      }
  }

  const A& a_;
  Conv2dSizes s_;
  std::int64_t width_, per_image_;
  S *kernels_, *terms_, *sums_;
};

}  // namespace

void conv2d_on_cpu(const A& a, Arena arena, Stream& stream, int) {
  if (a.y.size() == 0) return;
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    const auto run = [&](const auto& items) {
      parallel_for(stream.threads(), items.count(), [&](std::int64_t i, int thread) { items(i, thread); });
    };
    if (DirectRows<T>::fits(Conv2dSizes(a))) {
      const DirectRows<T> rows(arena, a, stream.threads());
      rows.turn_kernels();
      return run(rows);
    }
    const Pieces<T> pieces(arena, a, stream.threads());
    pieces.widen_kernels();
    run(pieces);
  });
}

void lay_conv2d_on_cpu(Arena& arena, const A& a, const Site& site) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    if (DirectRows<T>::fits(Conv2dSizes(a)))
      DirectRows<T>(arena, a, site.threads);
    else
      Pieces<T>(arena, a, site.threads);
  });
}

}  // namespace kolmo
