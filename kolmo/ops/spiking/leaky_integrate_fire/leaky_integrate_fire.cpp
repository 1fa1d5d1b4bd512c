#include "kolmo/ops/spiking/leaky_integrate_fire/leaky_integrate_fire.hpp"

#include <limits>

#include "kolmo/op/define.hpp"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/spiking/leaky_integrate_fire/neuron.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = LeakyIntegrateFireArgs;

void check(const A& a) {
  require(a.dt > 0 && a.tau > 0, "leaky_integrate_fire: dt and tau must be above 0");
  require(a.refractory / a.dt < std::numeric_limits<std::int32_t>::max(),
          "leaky_integrate_fire: refractory is more than 2^31 steps");
}

/// Takes all steps for a few thousand neurons at a time, whose state stays in the cache.
void launch(const A& a, Arena, Stream& s, int) {
  visit<double, float>(a.current.dtype, [&]<class T> {
    const LeakyNeuron<T> f(a);
    parallel_ranges(
        s.threads(), f.neurons,
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t t = 0; t < f.steps; ++t)
            for (std::int64_t i = begin; i < end; ++i)
              f.spike[t * f.neurons + i] = f.step(f.potential[i], f.waiting[i], f.current[t * f.neurons + i]);
        },
        1 << 11);
  });
}

/// Makes currents strong enough for neurons to fire now and then.
void driven(A& a) {
  a.tau = 1e-3, a.resistance = 4, a.refractory = 3e-4, a.rest = -0.1, a.reset = -0.2;
  visit<double, float>(a.current.dtype, [&]<class T> {
    for (std::int64_t i = 0; i < a.current.size(); ++i) a.current.as<T>()[i] += T(0.2);
  });
}

// Each step rounds a potential below 4 by four roundings, of which the leak keeps the share 1 - dt / tau in
// the next step. In all they are below 40 roundings of 4. No potential of these cases comes that near to the
// threshold, so that spikes are exact.
constexpr double f64 = 160 * 0x1p-53, f32 = 160 * 0x1p-24;
constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"t", 1}, {"...", 1}}, .tolerance = f64},
    {.name = "100 steps of 33 f64", .sizes = {{"t", 100}, {"...", 33}}, .tolerance = f64, .setup = driven},
    {.name = "30 steps of 1025 f32",
     .sizes = {{"t", 30}, {"...", 1025}},
     .dtype = DType::f32,
     .tolerance = f32,
     .setup = driven},
    {.name = "one step of 2100 f64", .sizes = {{"t", 1}, {"...", 2100}}, .tolerance = f64, .setup = driven},
    {.name = "3 steps of 1024 f32",
     .sizes = {{"t", 3}, {"...", 1024}},
     .dtype = DType::f32,
     .tolerance = f32,
     .setup = driven},
    {.name = "70 steps of 65 f32",
     .sizes = {{"t", 70}, {"...", 65}},
     .dtype = DType::f32,
     .tolerance = f32,
     .setup = driven},
    {.name = "100 steps of 132 f32",
     .sizes = {{"t", 100}, {"...", 132}},
     .dtype = DType::f32,
     .tolerance = f32,
     .setup = driven},
    {.name = "64 steps of 258 f64", .sizes = {{"t", 64}, {"...", 258}}, .tolerance = f64, .setup = driven},
    {.name = "one step of 2^24 f32",
     .sizes = {{"t", 1}, {"...", 1 << 24}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "1000 steps of 2^14 f32",
     .sizes = {{"t", 1000}, {"...", 1 << 14}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = driven},
};

constinit const Definition<A> definition{
    {.name = "leaky_integrate_fire",
     .summary = "V <- V + dt / tau (-(V - rest) + R I), with threshold, reset and refractory period",
     .source = "Gerstner et al. 2014; Brian2",
     .determinism = Determinism::everywhere},
    {.check = check, .flops = [](const A& a) { return 5.0 * double(a.current.size()); }, .cases = cases}};

}  // namespace

constinit const Op<A> leaky_integrate_fire{definition};
extern constinit const Impl<A> leaky_integrate_fire_cpu{{.launch = launch}};

}  // namespace kolmo
