#include "kolmo/ops/dense/dot_product/dot_product_terms.hpp"
#include "kolmo/skeleton/packed_row_sum.cuh"

namespace kolmo {

extern constinit const Impl<DotProductArgs> dot_product_cuda = cuda::packed_row_sum<SumOfProducts>();

}  // namespace kolmo
