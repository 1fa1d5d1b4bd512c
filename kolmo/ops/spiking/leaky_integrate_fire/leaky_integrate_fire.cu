#include "kolmo/ops/spiking/leaky_integrate_fire/neuron.hpp"
#include "kolmo/skeleton/each_item.cuh"

namespace kolmo {

extern constinit const Impl<LeakyIntegrateFireArgs> leaky_integrate_fire_cuda =
    cuda::each_item<LeakyNeurons>();

}  // namespace kolmo
