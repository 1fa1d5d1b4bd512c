#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct ScaleByArgs {
  In x;
  Out y;
  double factor = 2;

  static constexpr auto fields() {
    return std::tuple{
        Field{"x", &ScaleByArgs::x, "...", reals, "values"},
        Field{"y", &ScaleByArgs::y, "...", reals, "scaled values"},
        Option{"factor", &ScaleByArgs::factor, -1e3, 1e3, "what to multiply with"},
    };
  }
};

/// y = factor x, element by element. x, y: any shape, f64 or f32.
extern const Op<ScaleByArgs> scale_by;

}  // namespace kolmo
