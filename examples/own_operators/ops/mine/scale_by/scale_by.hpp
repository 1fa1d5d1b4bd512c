#pragma once
#include "kolmo/op/op.hpp"
#include "kolmo/skeleton/elementwise.hpp"

namespace kolmo {

struct ScaleByArgs {
  In x;
  Out y;
  double factor = 2;

  static constexpr auto fields() {
    using A = ScaleByArgs;
    return std::array{
        field<&A::x>("x", "...", reals, "values"),
        field<&A::y>("y", "...", reals, "scaled values"),
        option<&A::factor>("factor", -1e3, 1e3, "what to multiply or divide with"),
    };
  }
};

/// y = factor x, element by element. x, y: any shape, f64 or f32. Same bits on every device.
extern const Op<ScaleByArgs> scale_by;

/// y = x / factor; otherwise as scale_by.
extern const Op<ScaleByArgs> divide_by;

template <class C>
struct ScaleByFunction {
  C factor;
  explicit ScaleByFunction(const ScaleByArgs& a) : factor(C(a.factor)) {}
  KOLMO_HD C operator()(C x) const { return factor * x; }
};
template <class C>
struct DivideByFunction {
  C factor;
  explicit DivideByFunction(const ScaleByArgs& a) : factor(C(a.factor)) {}
  KOLMO_HD C operator()(C x) const { return x / factor; }
};
template <template <class> class Function>
using ScaleByElements = Elements<ScaleByArgs, Function, RealTypes, &ScaleByArgs::y, &ScaleByArgs::x>;

}  // namespace kolmo
