#include "kolmo/skeleton/elementwise.cuh"
#include "mine/scale_by/scale_by.hpp"

namespace kolmo {

extern constinit const Impl<ScaleByArgs> scale_by_cuda =
    cuda::elementwise<ScaleByElements<ScaleByFunction>>();
extern constinit const Impl<ScaleByArgs> divide_by_cuda =
    cuda::elementwise<ScaleByElements<DivideByFunction>>();

}  // namespace kolmo
