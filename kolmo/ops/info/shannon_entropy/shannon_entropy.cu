#include "kolmo/ops/info/shannon_entropy/shannon_entropy_terms.hpp"
#include "kolmo/skeleton/row_sum.cuh"

namespace kolmo {

extern constinit const Impl<ShannonEntropyArgs> shannon_entropy_cuda = cuda::row_sum<EntropySums>();

}  // namespace kolmo
