#include "kolmo/ops/nn/state_encode/encoder.hpp"
#include "kolmo/skeleton/each_team.cuh"

namespace kolmo {

extern constinit const Impl<StateEncodeArgs> state_encode_cuda = cuda::each_team<StateEncoders>();

}  // namespace kolmo
