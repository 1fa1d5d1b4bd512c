#pragma once
#include <algorithm>
#include <cstdint>

#include "kolmo/base/arena.hpp"
#include "kolmo/base/bf16_parts.hpp"
#include "kolmo/ops/dense/matmul/matmul_sizes.hpp"

namespace kolmo {

/// Products of f32 as products of bf16 parts, summed in f32 on tensor cores. Tensor cores cut their sums off, by at most 4 u of the sum so
/// far for at least eight products. So small products come first, and a sum in tensor cores ends after 1024 elements of k and is added in
/// f32, rounded to nearest. All in all
///   |error| <= (k / 2 + k / 1024 + 8) u sum |x| |y| <= 2 (k + 3) u sum |x| |y| <= 4 times the bound of products in f32,
/// unless parts are below the least f32. Infinite factors give infinities or NaN.
/// Source: Ootomo & Yokota 2022 (arXiv 2203.03341), who split in two and promote sums for the same reason; Henry, Tang & Heinecke 2019
/// (arXiv 1904.06376) for three bf16.
struct MatmulSplit : PartProducts {
  static constexpr double accuracy = 4;
  static constexpr std::int64_t chunk = 1024, step = 64;

  std::int64_t depth;  ///< of a full chunk
  void *a = nullptr, *b = nullptr, *sums = nullptr;

  /// Takes workspace for the parts of a chunk of a and b, and for sums, unless they are y.
  MatmulSplit(Arena& arena, const MatmulArgs& x) {
    const MatmulSizes s(x);
    depth = depth_of(std::min(s.k, chunk));
    a = arena.take<std::uint16_t>(s.batch * s.m * products * depth);
    b = arena.take<std::uint16_t>(s.batch * s.n * products * depth);
    sums = is_plain(x) ? x.y.data : arena.take<float>(x.y.size());
  }
  static std::int64_t depth_of(std::int64_t k) { return (k + step - 1) / step * step; }
  /// Whether y is the product alone.
  static bool is_plain(const MatmulArgs& x) {
    return x.alpha == 1 && !adds_c(x) && !x.bias.given() && x.activation == Activation::none;
  }
  static double bytes(const MatmulArgs& x) {
    const MatmulSizes s(x);
    return 2. * products * double(s.batch) * double(s.m + s.n) * double(depth_of(std::min(s.k, chunk))) +
           (is_plain(x) ? 0 : 4. * double(x.y.size()));
  }
};

}  // namespace kolmo
