#include "kolmo/device/read_once.cuh"
#include "kolmo/device/wide_sums.cuh"
#include "kolmo/ops/quantum/quantum_measurement/measure.hpp"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {
namespace {
using A = QuantumMeasurementArgs;

constexpr int draw_block = 128;

/// The argument `read` of WeightTree::find for a warp, whose threads share the reading.
struct ReadByWarp {
  static constexpr int together = 256;
  double* shared;
  template <class F>
  __device__ const double* operator()(const F& weight, int count) const {
    const int lane = int(threadIdx.x) % 32;
    double w[together / 32];
#pragma unroll
    for (int a = 0; a < together / 32; ++a)
      if (lane + 32 * a < count) w[a] = weight(lane + 32 * a);
    __syncwarp();  // other lanes may still read what was there
#pragma unroll
    for (int a = 0; a < together / 32; ++a)
      if (lane + 32 * a < count) shared[lane + 32 * a] = w[a];
    __syncwarp();
    return shared;
  }
};

/// Draws outcomes, each by a warp.
template <class T>
__global__ void __launch_bounds__(draw_block) draw_by_warps(cuda::EarlyStart early, DrawOutcome<T> f) {
  __shared__ double weights[draw_block / 32][ReadByWarp::together];
  early.wait();
  const int warp = int(threadIdx.x) / 32;
  for (std::int64_t i = std::int64_t(blockIdx.x) * (draw_block / 32) + warp; i < f.draws;
       i += std::int64_t(gridDim.x) * (draw_block / 32))
    f.draw(i, ReadByWarp{weights[warp]}, threadIdx.x % 32 == 0);
}

/// Collapses states by stores that do not displace what the caches hold of them.
template <class F>
struct WriteOnce {
  F collapse;
  std::int64_t items() const { return collapse.items(); }
  __device__ void operator()(std::int64_t i) const {
    const auto [first, amplitudes] = collapse.result(i);
    cuda::write_once(collapse.out + first, amplitudes);
  }
};

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float>(real_of(a.state.dtype), [&]<class T> {
    const auto sum = [&](bool packed, const auto& rows, const auto& done, std::int64_t count, std::int64_t k,
                         Sums<1>* partial) {
      constexpr int width = 16 / int(sizeof(Complex<T>));
      using Rows = std::remove_cvref_t<decltype(rows)>;
      if constexpr (width > 1 && std::is_same_v<Rows, OutcomeRows<T>>)
        if (packed && k > cuda::short_terms)
          return cuda::wide_row_sums<width>(rows, done, count, k, partial, s);
      if constexpr (width > 1 && std::is_same_v<Rows, AmplitudeRows<T>>)
        if (packed && k == sum_lanes) return cuda::launch_rows_of_lanes<width, 1>(rows, done, count, s);
      sum_rows<1>(rows, done, count, k, partial, cuda::SumItems{cuda::native(s), 1024});
    };
    const cuda::ItemSteps steps{s};
    const auto each = [&](const auto& f) {
      if constexpr (requires { f.result(0); })
        steps(WriteOnce<std::remove_cvref_t<decltype(f)>>{f});
      else
        steps(f);
    };
    const auto draw = [&](const DrawOutcome<T>& f) {
      // For more items than this, one thread each is enough to hide how long reads take; for fewer, a warp
      // works on each.
      constexpr std::int64_t few = 1 << 14;
      if (f.items() > few) return each(f);
      cuda::launch_early(draw_by_warps<T>, cuda::blocks(f.items(), draw_block / 32), draw_block, 0,
                         cuda::native(s), f);
    };
    measure<T>(a, arena, s.status(), sum, draw, each);
  });
}

}  // namespace

extern constinit const Impl<A> quantum_measurement_cuda{
    {.launch = launch, .lay = [](Arena& arena, const A& a, const Site&) { lay_measurement(arena, a); }}};

}  // namespace kolmo
