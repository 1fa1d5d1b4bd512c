#include "kolmo/ops/random/random_uniform/uniform_values.hpp"
#include "kolmo/skeleton/draw.cuh"

namespace kolmo {

extern constinit const Impl<RandomUniformArgs> random_uniform_cuda = cuda::draw<UniformDraws>();

}  // namespace kolmo
