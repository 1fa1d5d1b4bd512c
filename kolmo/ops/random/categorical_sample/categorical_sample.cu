#include "kolmo/ops/random/categorical_sample/sample_items.hpp"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {
namespace {
using A = CategoricalSampleArgs;

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float>(a.weight.dtype, [&]<class T> {
    const WeightBlocks<T> blocks(arena, a, s.status());
    cuda::do_step(SumBlock<T>{blocks}, s);
    cuda::do_step(AddBlocks<T>{blocks}, s);
    cuda::do_step(DrawCategory<T>(blocks, a), s);
  });
}

void lay(Arena& arena, const A& a, const Site&) {
  visit<double, float>(a.weight.dtype, [&]<class T> { WeightBlocks<T>(arena, a, {}); });
}

}  // namespace

extern constinit const Impl<A> categorical_sample_cuda{{.launch = launch, .lay = lay}};

}  // namespace kolmo
