#include "kolmo/ops/spiking/stdp_update/synapse.hpp"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {

extern constinit const Impl<StdpUpdateArgs> stdp_update_cuda{
    {.launch = [](const StdpUpdateArgs& a, Arena, Stream& s, int) {
      stdp_steps(a, [&](const auto& f) { cuda::do_step(f, s); });
    }}};

}  // namespace kolmo
