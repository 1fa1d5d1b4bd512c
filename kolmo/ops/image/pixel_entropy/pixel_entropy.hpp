#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

enum class WindowShape : std::int32_t { disk, square };
inline constexpr std::string_view window_shape_names[] = {"disk", "square"};
constexpr std::span<const std::string_view> names_of(WindowShape) { return window_shape_names; }

struct PixelEntropyArgs {
  In x;
  Out entropy;
  std::int64_t radius = 5, levels = 256;
  double low = 0, high = 1;
  WindowShape window = WindowShape::disk;

  static constexpr auto fields() {
    using A = PixelEntropyArgs;
    return std::array{
        field<&A::x>("x", "... h w", DTypes::of(DType::u8, DType::u16, DType::f32, DType::f64), "images",
                     Domain::unit),
        field<&A::entropy>("entropy", "... h w", DTypes::of(DType::f64), "bits"),
        option<&A::radius>("radius", 0, 127, "of the window, in pixels"),
        option<&A::window>("window", "disk: dx^2 + dy^2 <= radius^2; square: |dx|, |dy| <= radius"),
        option<&A::levels>("levels", 1, 1 << 16, "grey levels of floating images"),
        option<&A::low>("low", "value at which the lowest level of floating images begins"),
        option<&A::high>("high", "value at which the highest level ends"),
    };
  }
};

/// entropy = -sum_g p_g log2 p_g in bits, where p_g is the share of grey level g among the pixels of the window
/// around each pixel that lie in the image. x: h w images of u8 or u16, whose values are the levels, or of f32
/// or f64, whose values become levels floor((x - low) (levels / (high - low))), computed in double and clamped
/// to 0 ... levels - 1. The error is below 2^-40 bits; a window of one level has exactly 0. Same bits on every
/// device. Fault: a NaN.
/// Source: Shannon 1948; windows and borders as in skimage.filters.rank.entropy.
extern const Op<PixelEntropyArgs> pixel_entropy;

}  // namespace kolmo
