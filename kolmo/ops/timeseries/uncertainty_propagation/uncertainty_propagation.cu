#include "kolmo/ops/timeseries/uncertainty_propagation/propagation.hpp"
#include "kolmo/skeleton/each_team.cuh"

namespace kolmo {

extern constinit const Impl<UncertaintyPropagationArgs> uncertainty_propagation_cuda =
    cuda::each_team<Propagations>();

}  // namespace kolmo
