#pragma once
#include "kolmo/base/arena.hpp"
#include "kolmo/ops/nn/attention/attention.hpp"

namespace kolmo {

/// Computes attention in blocks of queries, distributed over the stream's threads. OpenBLAS computes the
/// products; exponentials are computed in vectors.
void attend_blocked(const AttentionArgs& a, Arena scratch, Stream& stream);
void lay_blocked_attention(Arena& arena, const AttentionArgs& a, int threads);
bool blocked_attention_fits(const AttentionArgs& a);

}  // namespace kolmo
