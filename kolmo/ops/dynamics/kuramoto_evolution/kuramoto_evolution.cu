#include "kolmo/device/reduce.cuh"
#include "kolmo/ops/dynamics/kuramoto_evolution/kuramoto_steps.hpp"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {
namespace {
using A = KuramotoEvolutionArgs;

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float>(a.theta.dtype, [&]<class T> {
    evolve<T>(a, KuramotoSpace(arena, a), s.status(), cuda::SumItems{cuda::native(s), 1024},
              cuda::ItemSteps{s});
  });
}

}  // namespace

extern constinit const Impl<A> kuramoto_evolution_cuda{
    {.launch = launch, .lay = [](Arena& arena, const A& a, const Site&) { KuramotoSpace(arena, a); }}};

}  // namespace kolmo
