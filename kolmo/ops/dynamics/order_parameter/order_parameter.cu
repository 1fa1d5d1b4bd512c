#include "kolmo/ops/dynamics/order_parameter/order_parameter_terms.hpp"
#include "kolmo/skeleton/row_sum.cuh"

namespace kolmo {

extern constinit const Impl<OrderParameterArgs> order_parameter_cuda = cuda::row_sum<OrderSums>();

}  // namespace kolmo
