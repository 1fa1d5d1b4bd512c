#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

/// What becomes of samples outside the range.
enum class OutsidePolicy : std::int32_t { drop, clamp };
inline constexpr std::string_view outside_policy_names[] = {"drop", "clamp"};

struct Histogram2dArgs {
  In x, y;
  Out counts;
  std::int64_t bins_x = 10, bins_y = 10;
  double x_min = 0, x_max = 1, y_min = 0, y_max = 1;
  OutsidePolicy outside = OutsidePolicy::drop;

  static constexpr auto fields() {
    using A = Histogram2dArgs;
    return std::tuple{
        Field{"x", &A::x, "... n", reals, "first coordinates", Domain::unit},
        Field{"y", &A::y, "... n", reals, "second coordinates", Domain::unit},
        Field{"counts", &A::counts, "... bins_x bins_y", DTypes::of(DType::i64), "samples in each bin"},
        Option{"bins_x", &A::bins_x, 1, 1 << 20, "bins of x"},
        Option{"bins_y", &A::bins_y, 1, 1 << 20, "bins of y"},
        Option{"x_min", &A::x_min, -unlimited, unlimited, "lower end of the range of x"},
        Option{"x_max", &A::x_max, -unlimited, unlimited, "upper end of the range of x"},
        Option{"y_min", &A::y_min, -unlimited, unlimited, "lower end of the range of y"},
        Option{"y_max", &A::y_max, -unlimited, unlimited, "upper end of the range of y"},
        Choice{"outside", &A::outside, outside_policy_names,
               "samples outside the range are not counted, or are counted in the nearest bin"},
    };
  }
};

/// counts[i, j] = number of samples (x, y) with x in bin i of bins_x equal bins over [x_min, x_max] and y in
/// bin j likewise. Bins are closed below and open above, the last one closed on both sides; edges are those
/// of numpy.linspace, so counts are those of numpy.histogram2d. Samples outside the range are dropped, or
/// with outside=clamp counted in the nearest bin (also at infinity). A sample with a NaN is never counted.
/// f32 samples are compared in double. Exact, hence the same on every device.
extern const Op<Histogram2dArgs> histogram_2d;

}  // namespace kolmo
