#include "kolmo/ops/training/weights_average/average_steps.hpp"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {

extern constinit const Impl<WeightsAverageArgs> weights_average_cuda{
    {.launch = [](const WeightsAverageArgs& a, Arena arena, Stream& s,
                  int) { average_steps(a, arena, s.status(), [&](const auto& f) { cuda::do_step(f, s); }); },
     .lay = lay_average}};

}  // namespace kolmo
