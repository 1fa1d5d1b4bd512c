#include "kolmo/ops/info/free_energy/free_energy_terms.hpp"
#include "kolmo/skeleton/row_sum.cuh"

namespace kolmo {

extern constinit const Impl<FreeEnergyArgs> free_energy_cuda = cuda::row_sum<FreeEnergySums>();

}  // namespace kolmo
