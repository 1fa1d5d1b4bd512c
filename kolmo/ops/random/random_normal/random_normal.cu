#include "kolmo/ops/random/random_normal/normal_values.hpp"
#include "kolmo/skeleton/draw.cuh"

namespace kolmo {

extern constinit const Impl<RandomNormalArgs> random_normal_cuda = cuda::draw<NormalDraws>();

}  // namespace kolmo
