#include "kolmo/ops/dynamics/reservoir_update/reservoir.hpp"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {
namespace {
using A = ReservoirUpdateArgs;

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float>(a.state.dtype, [&]<class T> { update_reservoir<T>(a, arena, s, cuda::ItemSteps{s}); });
}

}  // namespace

extern constinit const Impl<A> reservoir_update_cuda{
    {.launch = launch,
     .lay = [](Arena& arena, const A& a, const Site& site) { ReservoirSums(arena, a).lay(arena, site); }}};

}  // namespace kolmo
