#include "kolmo/ops/training/world_model_gradient/gradient_steps.hpp"
#include "kolmo/skeleton/each_team.cuh"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {
namespace {
using A = WorldModelGradientArgs;

constexpr int team = 192;  // six warps have a thread for each gate, and each part of a sum, of 48 units

/// Three teams on each multiprocessor of an H200 run 5 members of 64 windows at once.
template <class F>
__global__ void __launch_bounds__(team, 3) run_teams(F f, std::int64_t n) {
  const cuda::BlockTeam<team> threads;
  for (std::int64_t i = blockIdx.x; i < n; i += gridDim.x) {
    f(i, threads, nullptr);
    threads.sync();
  }
}
struct WindowTeams {
  Stream& stream;
  template <class F>
  void operator()(const F& f) const {
    cuda::launch(run_teams<F>, unsigned(cuda::teams(f)), team, 0, cuda::native(stream), f, f.items());
  }
};

}  // namespace

extern constinit const Impl<A> world_model_gradient_cuda{
    {.launch =
         [](const A& a, Arena arena, Stream& s, int) {
           visit<double, float>(a.parameters.dtype, [&]<class T> {
             GradientSteps<T>(arena, a).run(a, cuda::ItemSteps{s}, WindowTeams{s});
           });
         },
     .lay =
         [](Arena& arena, const A& a, const Site&) {
           visit<double, float>(a.parameters.dtype, [&]<class T> { GradientSteps<T>(arena, a); });
         }}};

}  // namespace kolmo
