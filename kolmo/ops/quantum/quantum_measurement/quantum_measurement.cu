#include "kolmo/device/reduce.cuh"
#include "kolmo/ops/quantum/quantum_measurement/measure.hpp"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {
namespace {
using A = QuantumMeasurementArgs;

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float>(real_of(a.state.dtype), [&]<class T> {
    measure<T>(a, arena, s.status(), cuda::SumItems{cuda::native(s), 1024}, cuda::ItemSteps{s});
  });
}

}  // namespace

extern constinit const Impl<A> quantum_measurement_cuda{
    {.launch = launch, .lay = [](Arena& arena, const A& a, const Site&) { lay_measurement(arena, a); }}};

}  // namespace kolmo
