#include "kolmo/ops/elementwise/broadcast_add/add_items.hpp"
#include "kolmo/skeleton/each_item.cuh"

namespace kolmo {

extern constinit const Impl<BroadcastAddArgs> broadcast_add_cuda = cuda::each_item<AddItems>();

}  // namespace kolmo
