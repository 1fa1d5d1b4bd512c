#include "kolmo/ops/info/kl_divergence/kl_divergence_terms.hpp"
#include "kolmo/skeleton/row_sum.cuh"

namespace kolmo {

extern constinit const Impl<KlDivergenceArgs> kl_divergence_cuda = cuda::row_sum<Divergence>();

}  // namespace kolmo
