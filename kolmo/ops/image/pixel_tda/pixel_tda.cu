#include "kolmo/ops/image/pixel_tda/diagrams.hpp"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {

extern constinit const Impl<PixelTdaArgs> pixel_tda_cuda{
    {.launch = [](const PixelTdaArgs& a, Arena arena, Stream& s,
                  int) { find_diagrams(a, TdaSpace(arena, a), s.status(), cuda::ItemSteps{s}); },
     .lay = [](Arena& arena, const PixelTdaArgs& a, const Site&) { TdaSpace(arena, a); }}};

}  // namespace kolmo
