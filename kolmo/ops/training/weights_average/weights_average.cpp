#include "kolmo/ops/training/weights_average/weights_average.hpp"

#include <algorithm>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/training/weights_average/average_steps.hpp"
#include "kolmo/runtime/cpu/convert.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"
#include "kolmo/skeleton/steps_cpu.hpp"

namespace kolmo {
namespace {
using A = WeightsAverageArgs;

struct CpuSteps {
  Stream& stream;
  template <class R>
  void operator()(const AverageShares<R>& f) const {
    cpu::do_step(f, stream);
  }
  /// Takes some weights at a time, which stay in a cache while they join one average after the other.
  template <class T, class R>
  void operator()(const AveragedWeight<T, R>& f) const {
    constexpr std::int64_t some = 2048;
    parallel_ranges(stream.threads(), f.items(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t first = begin; first < end; first += some) {
        const std::int64_t count = std::min(some, end - first);
        const Widened<T, some> w(f.weights + first, count);
        for (std::int64_t j = 0; j < f.m; ++j) {
          R* const average = f.averages + j * f.n + first;
          const R share = f.share[j];
          in_vectors(average, count,
                     [&, from = w.data()](std::int64_t i) { f.join(R(from[i]), share, average[i]); });
        }
      }
    });
  }
};

/// Makes every second average, from the first on, a power average with a gamma up to 20.
void mixed(A& a, CaseRandom& random) {
  for (std::int64_t j = 0; j < a.power.size(); ++j) {
    a.power.as<bool>()[j] = j % 2 == 0;
    a.memory.as<double>()[j] = j % 2 ? 1 - random.uniform() / 8 : 20 * random.uniform();
  }
}
/// Does the same in the middle of a training; averages are then means of weights near them.
void later(A& a, CaseRandom& random) { mixed(a, random), a.step = 1000; }

// Weights and averages are below 6, so that a difference is below 12 and its share of it too. It is rounded
// three times, with the share, and the sum once.
constexpr double f64 = 64 * 0x1p-53, f32 = 64 * 0x1p-24;
constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"n", 1}, {"m", 1}}, .tolerance = f64},
    {.name = "first step", .sizes = {{"n", 33}, {"m", 3}}, .tolerance = 0, .draw = mixed},
    {.name = "step 7",
     .sizes = {{"n", 100}, {"m", 2}},
     .tolerance = f64,
     .draw = [](A& a, CaseRandom& r) { mixed(a, r), a.step = 7; }},
    {.name = "n=1025 f64", .sizes = {{"n", 1025}, {"m", 4}}, .tolerance = f64, .draw = later},
    {.name = "n=1000 f32",
     .sizes = {{"n", 1000}, {"m", 3}},
     .dtype = DType::f32,
     .tolerance = f32,
     .draw = later,
     .dtypes = {{"R", DType::f32}}},
    {.name = "n=513 f32 in f64",
     .sizes = {{"n", 513}, {"m", 3}},
     .dtype = DType::f32,
     .tolerance = f64,
     .draw = later},
    {.name = "n=300 f64 in f32",
     .sizes = {{"n", 300}, {"m", 2}},
     .tolerance = f32,
     .draw = later,
     .dtypes = {{"R", DType::f32}}},
    {.name = "n=300 f16 in f32",
     .sizes = {{"n", 300}, {"m", 2}},
     .dtype = DType::f16,
     .tolerance = f32,
     .draw = later,
     .dtypes = {{"R", DType::f32}}},
    {.name = "n=300 f16",
     .sizes = {{"n", 300}, {"m", 1}},
     .dtype = DType::f16,
     .tolerance = f64,
     .draw = later},
    {.name = "n=300 bf16 in f32",
     .sizes = {{"n", 300}, {"m", 2}},
     .dtype = DType::bf16,
     .tolerance = f32,
     .draw = later,
     .dtypes = {{"R", DType::f32}}},
    {.name = "n=300 bf16",
     .sizes = {{"n", 300}, {"m", 2}},
     .dtype = DType::bf16,
     .tolerance = f64,
     .draw = later},
    {.name = "3 averages of 2^26 f32",
     .sizes = {{"n", 1 << 26}, {"m", 3}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .draw = later,
     .dtypes = {{"R", DType::f32}}},
};

constexpr std::string_view faults[] = {"memory holds a gamma below 0, or a decay outside of 0 to 1"};
constinit const Definition<A> definition{
    {.name = "weights_average",
     .summary = "a <- a + s_k (w_k - a) for power and exponential averages of the weights of a training",
     .source = "Karras et al. 2024; Polyak & Juditsky 1992",
     .determinism = Determinism::everywhere,
     .faults = faults},
    {.flops = [](const A& a) { return 3.0 * double(a.averages.size()); }, .cases = cases}};

}  // namespace

constinit const Op<A> weights_average{definition};
extern constinit const Impl<A> weights_average_cpu{
    {.launch = [](const A& a, Arena arena, Stream& s,
                  int) { average_steps(a, arena, s.status(), CpuSteps{s}); },
     .lay = lay_average}};

}  // namespace kolmo
