#include "kolmo/ops/dynamics/entropy_production/flux_terms.hpp"
#include "kolmo/skeleton/row_sum.cuh"

namespace kolmo {

extern constinit const Impl<EntropyProductionArgs> entropy_production_cuda = cuda::row_sum<FluxSums>();

}  // namespace kolmo
