#pragma once
#include "kolmo/ops/nn/attention/attention.hpp"

namespace kolmo {

struct MultiHeadAttentionArgs {
  In query, key, value, in_proj_weight, out_proj_weight;
  OptIn in_proj_bias, out_proj_bias, mask;
  Out y;
  std::int64_t heads = 1;
  Causal causal = Causal::none;

  static constexpr auto fields() {
    using A = MultiHeadAttentionArgs;
    return std::array{
        field<&A::query>("query", "... s e", floats, "sequence that asks"),
        field<&A::key>("key", "... t e", floats, "sequence that is compared"),
        field<&A::value>("value", "... t e", floats, "sequence that is averaged"),
        field<&A::in_proj_weight>("in_proj_weight", "f e", floats, "f = 3 e: rows of W_q, W_k, W_v"),
        field<&A::out_proj_weight>("out_proj_weight", "e e", floats, "W_o"),
        field<&A::in_proj_bias>("in_proj_bias", "f", floats, "b_q, b_k, b_v"),
        field<&A::out_proj_bias>("out_proj_bias", "e", floats, "b_o"),
        field<&A::mask>("mask", "... m0 m1", DTypes::of(DType::boolean, DType::u8).as("M"),
                        "not 0 where a query sees the key: 1 t for all queries, or s t", Domain::mask),
        field<&A::y>("y", "... s e", floats, "result, batch first"),
        option<&A::heads>("heads", 1, 1 << 20, "number of heads, which divides e"),
        option<&A::causal>("causal", "last key of query i: any, i, or i + t - s"),
    };
  }
};

/// Multi-head attention: with Q = query W_q^T + b_q, K = key W_k^T + b_k, V = value W_v^T + b_v, whose e columns
/// belong to `heads` heads of e / heads neighbours each,
///   y = [attention(Q_1, K_1, V_1) ... attention(Q_h, K_h, V_h)] W_o^T + b_o
/// where attention is the operator of this name, its scale 1 / sqrt(e / heads). Weights are laid out as in
/// torch.nn.MultiheadAttention with batch_first; its masks are 1 where a key is ignored, mask here where it takes part:
/// a padding mask of shape ... 1 t, or one of shape ... s t for each query. A query without any key gets b_o.
/// Sizes from 0 up; e / heads at most 256. One dtype of f64, f32, f16, bf16; Q, K, V and the means are rounded to it,
/// sums are in float for 16-bit dtypes. y overlaps no input. Same bits from run to run.
/// Source: Vaswani et al., NIPS 2017.
extern const Op<MultiHeadAttentionArgs> multi_head_attention;

}  // namespace kolmo
