#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

/// Which elements of a row are rotated together: 2 i and 2 i + 1, or i and d / 2 + i.
enum class RopePairs : std::int32_t { interleaved, halves };
inline constexpr std::string_view rope_pairs_names[] = {"interleaved", "halves"};
constexpr std::span<const std::string_view> names_of(RopePairs) { return rope_pairs_names; }

struct RopeEncodingArgs {
  In x;
  OptIn position;
  Out y;
  double theta = 10000;
  std::int64_t offset = 0;
  RopePairs pairs = RopePairs::interleaved;

  static constexpr auto fields() {
    using A = RopeEncodingArgs;
    return std::array{
        field<&A::x>("x", "... s d", floats, "queries or keys: s places in a sequence, d even"),
        field<&A::position>("position", "s", DTypes::of(DType::i64),
                            "position of each place; default 0, 1, 2, ...", Domain::count),
        field<&A::y>("y", "... s d", floats, "x with its pairs rotated"),
        option<&A::theta>("theta", 1, unlimited, "base of the wavelengths"),
        option<&A::offset>("offset", 0, std::int64_t(1) << 40, "added to all positions"),
        option<&A::pairs>("pairs", "elements that are rotated together: 2i and 2i+1, or i and d/2+i"),
    };
  }
};

/// Rotary position embedding: pair i = 0 ... d / 2 - 1 of the row at position p is rotated by p theta^(-2 i / d):
///   y_a = x_a cos - x_b sin,  y_b = x_a sin + x_b cos
/// pairs=interleaved: a = 2 i, b = 2 i + 1 (the paper, GPT-J); halves: a = i, b = d / 2 + i (GPT-NeoX, Llama).
/// x, y: one dtype of f64, f32, f16, bf16; leading dimensions (batch, heads) share the positions. Angles, sines
/// and cosines are computed in double, so that they are right at any position; the rotation is f64 for f64,
/// else f32. y may be x. Source: Su et al., arXiv:2104.09864.
extern const Op<RopeEncodingArgs> rope_encoding;

}  // namespace kolmo
