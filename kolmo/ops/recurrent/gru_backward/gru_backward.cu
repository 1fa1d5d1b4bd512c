#include "kolmo/ops/recurrent/gru_backward/backward_steps.hpp"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {

extern constinit const Impl<GruBackwardArgs> gru_backward_cuda{
    {.launch =
         [](const GruBackwardArgs& a, Arena arena, Stream& s, int) {
           visit<double, float>(a.h.dtype, [&]<class T> {
             const BackwardSteps w(arena, a);
             w.run<T>(a, arena, s, cuda::ItemSteps{s});
           });
         },
     .lay = [](Arena& arena, const GruBackwardArgs& a,
               const Site& site) { BackwardSteps(arena, a).lay(arena, site); }}};

}  // namespace kolmo
