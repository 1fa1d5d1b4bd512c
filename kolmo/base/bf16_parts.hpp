#pragma once
#include "kolmo/base/hd.hpp"

namespace kolmo {

/// A product of f32 as six products of bf16. Each factor is the sum of three bf16, x = x1 + x2 + x3, each the rest rounded, so
/// |x2| <= 2^-8 |x| and |x3| <= 2^-16 |x|. Of the nine products of parts, x2 y3, x3 y2 and x3 y3 are left out: at most
/// 2 u (1 + 2^-8) |x y|, with u = 2^-24. Small products come first.
struct PartProducts {
  static constexpr int products = 6;
  /// The parts in each product, from 0 on: x3 y1, x1 y3, x2 y2, x2 y1, x1 y2, x1 y1.
  KOLMO_HD static constexpr int part_of_a(int product) {
    return product == 0 ? 2 : product == 2 || product == 3 ? 1 : 0;
  }
  KOLMO_HD static constexpr int part_of_b(int product) {
    return product == 1 ? 2 : product == 2 || product == 4 ? 1 : 0;
  }
};

}  // namespace kolmo
