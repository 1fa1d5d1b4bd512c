#include "kolmo/ops/elementwise/binary/functions.hpp"
#include "kolmo/skeleton/elementwise.cuh"

namespace kolmo {

extern constinit const Impl<BinaryArgs> vector_add_cuda = cuda::elementwise<Binary<Sum>>();
extern constinit const Impl<BinaryArgs> elementwise_multiply_cuda = cuda::elementwise<Binary<Product>>();

}  // namespace kolmo
