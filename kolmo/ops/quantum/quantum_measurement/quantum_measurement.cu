#include "kolmo/device/reduce.cuh"
#include "kolmo/ops/quantum/quantum_measurement/measure.hpp"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {
namespace {
using A = QuantumMeasurementArgs;

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float>(real_of(a.state.dtype), [&]<class T> {
    const auto sum = [&](bool packed, const auto& rows, const auto& done, std::int64_t count, std::int64_t k,
                         Sums<1>* partial) {
      constexpr int width = 16 / int(sizeof(Complex<T>));
      if constexpr (width > 1 && !std::is_same_v<std::remove_cvref_t<decltype(rows)>, ValueRows<double>>)
        if (packed && k > cuda::short_terms)
          return cuda::sum_rows_by<cuda::SumPlan{cuda::SumMethod::wide}, width>(rows, done, count, k, partial,
                                                                                s);
      sum_rows<1>(rows, done, count, k, partial, cuda::SumItems{cuda::native(s), 1024});
    };
    measure<T>(a, arena, s.status(), sum, cuda::ItemSteps{s});
  });
}

}  // namespace

extern constinit const Impl<A> quantum_measurement_cuda{
    {.launch = launch, .lay = [](Arena& arena, const A& a, const Site&) { lay_measurement(arena, a); }}};

}  // namespace kolmo
