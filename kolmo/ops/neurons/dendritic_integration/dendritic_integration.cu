#include "kolmo/ops/neurons/dendritic_integration/dendrites.hpp"
#include "kolmo/skeleton/each_team.cuh"

namespace kolmo {

extern constinit const Impl<DendriticIntegrationArgs> dendritic_integration_cuda =
    cuda::each_team<DendriticNeurons>();

}  // namespace kolmo
