#include "kolmo/ops/elementwise/unary/functions.hpp"
#include "kolmo/skeleton/elementwise.cuh"

namespace kolmo {

extern constinit const Impl<UnaryArgs> elementwise_exp_cuda = cuda::elementwise<Unary<Exponential>>();
extern constinit const Impl<UnaryArgs> relu_cuda = cuda::elementwise<Unary<Rectifier>>();
extern constinit const Impl<UnaryArgs> sigmoid_cuda = cuda::elementwise<Unary<Logistic>>();
extern constinit const Impl<UnaryArgs> tanh_cuda = cuda::elementwise<Unary<HyperbolicTangent>>();
extern constinit const Impl<GeluArgs> gelu_cuda = cuda::elementwise<Unary<GaussianError, GeluArgs>>();

}  // namespace kolmo
