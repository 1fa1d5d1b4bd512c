#include "kolmo/ops/info/digamma/digamma_function.hpp"
#include "kolmo/skeleton/elementwise.cuh"

namespace kolmo {

extern constinit const Impl<DigammaArgs> digamma_cuda = cuda::elementwise<DigammaElements>();

}  // namespace kolmo
