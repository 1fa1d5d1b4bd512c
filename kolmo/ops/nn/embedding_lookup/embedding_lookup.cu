#include "kolmo/ops/nn/embedding_lookup/lookup_items.hpp"
#include "kolmo/skeleton/each_item.cuh"

namespace kolmo {

extern constinit const Impl<EmbeddingLookupArgs> embedding_lookup_cuda = cuda::each_item<LookupItems>();

}  // namespace kolmo
