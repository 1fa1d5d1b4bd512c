#include "kolmo/ops/reduce/reduce_sum/reduce_sum_terms.hpp"
#include "kolmo/skeleton/packed_row_sum.cuh"

namespace kolmo {

extern constinit const Impl<ReduceSumArgs> reduce_sum_cuda = cuda::packed_row_sum<SumOfRow>();

}  // namespace kolmo
