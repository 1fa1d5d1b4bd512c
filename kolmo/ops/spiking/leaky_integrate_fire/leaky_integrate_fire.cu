#include "kolmo/ops/spiking/leaky_integrate_fire/neuron.hpp"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {
namespace {
using A = LeakyIntegrateFireArgs;

/// Few steps by packs of 16 bytes; many, with currents read ahead, one neuron by one, so that there are more threads.
void launch(const A& a, Arena, Stream& s, int) {
  visit<double, float>(a.current.dtype, [&]<class T> {
    constexpr int ahead = 128 / sizeof(T);
    if (const LeakyNeurons<T, pack_width<T>, 1> packs(a); packs.steps < ahead && packs.fits())
      cuda::do_step(packs, s);
    else
      cuda::do_step<64>(LeakyNeurons<T, 1, ahead>(a), s);
  });
}

}  // namespace

extern constinit const Impl<A> leaky_integrate_fire_cuda{{.launch = launch}};

}  // namespace kolmo
