#include "kolmo/ops/training/adamw_step/adamw_step.hpp"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {

extern constinit const Impl<AdamwStepArgs> adamw_step_cuda{
    {.launch = [](const AdamwStepArgs& a, Arena, Stream& s, int) {
      visit<double, float>(a.parameters.dtype, [&]<class T> { cuda::do_step(AdamwParameter<T>(a), s); });
    }}};

}  // namespace kolmo
