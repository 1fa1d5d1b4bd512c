#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

enum class Causal : std::int32_t { none, upper_left, lower_right };
inline constexpr std::string_view causal_names[] = {"none", "upper_left", "lower_right"};
constexpr std::span<const std::string_view> names_of(Causal) { return causal_names; }

enum class HeadLayout : std::int32_t { heads_first, heads_last };
inline constexpr std::string_view head_layout_names[] = {"heads_first", "heads_last"};
constexpr std::span<const std::string_view> names_of(HeadLayout) { return head_layout_names; }

struct AttentionArgs {
  In q, k, v;
  OptIn mask;
  Out y;
  Causal causal = Causal::none;
  HeadLayout layout = HeadLayout::heads_first;
  std::optional<double> scale = {};

  static constexpr auto fields() {
    using A = AttentionArgs;
    return std::array{
        field<&A::q>("q", "... q0 q1 d", floats, "queries: h s d, or s h d with layout heads_last"),
        field<&A::k>("k", "... k0 k1 d", floats, "keys: g t d, or t g d; g divides h"),
        field<&A::v>("v", "... k0 k1 d", floats, "values, shaped as the keys"),
        field<&A::mask>("mask", "... m0 m1", DTypes::of(DType::boolean, DType::u8).as("M"),
                        "not 0 where a query sees the key: 1 t for all queries, or s t", Domain::mask),
        field<&A::y>("y", "... q0 q1 d", floats, "weighted means of the values, shaped as the queries"),
        option<&A::causal>("causal", "last key of query i: any, i, or i + t - s"),
        option<&A::layout>("layout", "whether the dimension of heads precedes that of the sequence"),
        option<&A::scale>("scale", "positive factor of the scores; none: 1 / sqrt d"),
    };
  }
};

/// Scaled dot-product attention: for each leading (batch) index, head a and query i
///   y_ai = sum_j w_j v_bj / sum_j w_j,  w_j = exp(scale q_ai k_bj),  b = a g / h rounded down
/// over the keys j that the query sees: those of the mask, and with causal upper_left j <= i, with lower_right
/// j <= i + t - s. A query that sees no key gets 0. Each key head serves h / g neighbouring query heads
/// (grouped queries). No matrix of s x t scores is stored: the keys are passed once, with a running maximum.
/// Shapes: h heads, s queries and t keys from 0 up, d from 1 to 256. One dtype of f64, f32, f16, bf16; 16-bit
/// products are summed in float, and weights rounded to the dtype before they multiply values. k and v must
/// be finite, also where they are masked. y may be q. Same bits from run to run on one device and variant.
/// The mask is 1 where a key takes part, as in torch's scaled_dot_product_attention; the alias
/// fused_attention_softmax is the same function.
/// Sources: Vaswani et al. 2017; Milakov & Gimelshein 2018 (running maximum); Dao et al. 2022; Ainslie et al.
/// 2023 (grouped queries).
extern const Op<AttentionArgs> attention;
extern const Alias<AttentionArgs> fused_attention_softmax;

}  // namespace kolmo
