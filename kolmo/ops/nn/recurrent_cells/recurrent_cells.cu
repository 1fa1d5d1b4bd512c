#include "kolmo/ops/nn/recurrent_cells/cells.hpp"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {

extern constinit const Impl<LstmCellArgs> lstm_cell_cuda{
    {.launch =
         [](const LstmCellArgs& a, Arena arena, Stream& s, int) {
           visit<double, float, Half, BFloat16>(
               a.h.dtype, [&]<class T> { lstm_step<T>(a, arena, s, cuda::ItemSteps{s}); });
         },
     .lay = [](Arena& arena, const LstmCellArgs& a,
               const Site& site) { LstmProducts(arena, a).lay(arena, site); }}};
extern constinit const Impl<GruCellArgs> gru_cell_cuda{
    {.launch =
         [](const GruCellArgs& a, Arena arena, Stream& s, int) {
           visit<double, float, Half, BFloat16>(
               a.h.dtype, [&]<class T> { gru_step<T>(a, arena, s, cuda::ItemSteps{s}); });
         },
     .lay = [](Arena& arena, const GruCellArgs& a,
               const Site& site) { GruProducts(arena, a).lay(arena, site); }}};

}  // namespace kolmo
