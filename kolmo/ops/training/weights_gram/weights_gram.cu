#include "kolmo/device/reduce.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/training/weights_gram/gram_tiles.hpp"
#include "kolmo/ops/training/weights_gram/weights_gram.hpp"

namespace kolmo {

extern constinit const Impl<WeightsGramArgs> weights_gram_cuda{
    {.launch =
         [](const WeightsGramArgs& a, Arena arena, Stream& s, int) {
           gram_sums(a, arena, [&](const auto& job, std::int64_t items, std::int64_t) {
             cuda::launch_items<cuda::sum_shapes[2]>(job, items, cuda::native(s));
           });
         },
     .lay = [](Arena& arena, const WeightsGramArgs& a, const Site&) { gram_scratch(arena, a); }}};

}  // namespace kolmo
