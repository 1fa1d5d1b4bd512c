#include "kolmo/ops/nn/multi_head_attention/projections.hpp"

namespace kolmo {

extern constinit const Impl<MultiHeadAttentionArgs> multi_head_attention_cuda{multi_head_code};

}  // namespace kolmo
