#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

/// Says how samples outside the range are treated.
enum class OutsidePolicy : std::int32_t { drop, clamp };
inline constexpr std::string_view outside_policy_names[] = {"drop", "clamp"};
constexpr std::span<const std::string_view> names_of(OutsidePolicy) { return outside_policy_names; }

struct Histogram2dArgs {
  In x, y;
  Out counts;
  std::int64_t bins_x = 10, bins_y = 10;
  double x_min = 0, x_max = 1, y_min = 0, y_max = 1;
  OutsidePolicy outside = OutsidePolicy::drop;

  static constexpr auto fields() {
    using A = Histogram2dArgs;
    return std::array{
        field<&A::x>("x", "... n", reals, "first coordinates", Domain::unit),
        field<&A::y>("y", "... n", reals, "second coordinates", Domain::unit),
        field<&A::counts>("counts", "... bins_x bins_y", DTypes::of(DType::i64), "samples in each bin"),
        option<&A::bins_x>("bins_x", 1, 1 << 20, "bins of x"),
        option<&A::bins_y>("bins_y", 1, 1 << 20, "bins of y"),
        option<&A::x_min>("x_min", "lower end of the range of x"),
        option<&A::x_max>("x_max", "upper end of the range of x"),
        option<&A::y_min>("y_min", "lower end of the range of y"),
        option<&A::y_max>("y_max", "upper end of the range of y"),
        option<&A::outside>("outside",
                            "samples outside the range are not counted, or are counted in the nearest bin"),
    };
  }
};

/// counts[i, j] = number of samples (x, y) with x in bin i of bins_x equal bins over [x_min, x_max] and y in
/// bin j likewise. Bins are closed below and open above; the last one is closed on both sides. Edges are
/// those of numpy.linspace, so counts equal those of numpy.histogram2d. Samples outside the range, infinities
/// included, are dropped, or with outside=clamp counted in the nearest bin. A sample with a NaN is never
/// counted. f32 samples are compared in double. Counts are exact and the same on every device.
extern const Op<Histogram2dArgs> histogram_2d;

}  // namespace kolmo
