#include "kolmo/ops/nn/state_encode/state_encode.hpp"

#include <bit>
#include <string>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/nn/state_encode/encoder.hpp"
#include "kolmo/skeleton/each_team_cpu.hpp"

namespace kolmo {
namespace {
using A = StateEncodeArgs;

void check_window(const char* name, const Tensor& t) {
  if (t.dim(-1) < 1 || t.dim(-1) > 4096)
    fail<InvalidArgument>("state_encode: " + std::string(name) + " holds " + std::to_string(t.dim(-1)) +
                          " numbers, it must be 1 to 4096");
}
void check(const A& a) {
  check_window("losses", a.losses), check_window("gradient_norms", a.gradient_norms);
  require(a.center.given() == a.scale.given(),
          "state_encode: center and scale are given together or not at all");
}
double flops(const A& a) {
  // Sorting takes half of (log n)^2 comparisons for each number; then come sums, averages and slopes.
  const auto sorting = [](std::int64_t n) {
    const double stages = double(std::bit_width(std::uint64_t(n)));
    return double(n) * stages * (stages + 1) / 2;
  };
  const std::int64_t w = a.losses.dim(-1), v = a.gradient_norms.dim(-1);
  return double(a.features.size()) / 64 * (sorting(w) + sorting(v) + 30 * double(w) + 13 * double(v) + 200);
}

/// Draws losses that fall with noise, whole phases, and a step within the budget.
void draw(A& a, CaseRandom& random) {
  visit<double, float>(a.losses.dtype, [&]<class T> {
    const std::int64_t w = a.losses.dim(-1);
    for (std::int64_t i = 0; i < a.losses.size(); ++i)
      a.losses.as<T>()[i] = T(2 / (1 + 0.02 * double(i % w)) + 0.1 * random.uniform());
    T* const p = a.progress.as<T>();
    for (std::int64_t i = 0; i < a.progress.size(); i += 4)
      p[i] = T(random.below(5000)), p[i + 1] = T(random.below(4)), p[i + 2] = T(random.below(100)),
      p[i + 3] = 5000;
  });
}

// Sums of 257 numbers below 3 err by at most 257 * 3 * 2^-53 each. Quotients by a deviation above 0.01
// enlarge that by 100, and by 1000 with scales drawn at random above 0.001. f32 features are rounded once.
constexpr double t = 257 * 3 * 100 * 0x1p-53;
constexpr Case<A> cases[] = {
    {.name = "one loss, one norm", .sizes = {{"...", 3}, {"w", 1}, {"v", 1}}, .tolerance = t, .draw = draw},
    {.name = "w=31 v=2", .sizes = {{"...", 2}, {"w", 31}, {"v", 2}}, .tolerance = t, .draw = draw},
    {.name = "w=256 v=64 f32, scaled",
     .sizes = {{"...", 3}, {"w", 256}, {"v", 64}},
     .dtype = DType::f32,
     .tolerance = 0x1p-23,
     .optional = "center scale",
     .draw = draw},
    {.name = "w=257 v=65, scaled",
     .sizes = {{"...", 2}, {"w", 257}, {"v", 65}},
     .tolerance = 1000 * t,
     .optional = "center scale",
     .draw = draw},
    {.name = "one state after one step, f32",
     .sizes = {{"...", 1}, {"w", 1}, {"v", 1}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .draw = draw},
    {.name = "one state after 50 steps, f32",
     .sizes = {{"...", 1}, {"w", 50}, {"v", 50}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .draw = draw},
    {.name = "one state after 100 steps, f32",
     .sizes = {{"...", 1}, {"w", 100}, {"v", 64}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .draw = draw},
    {.name = "one state after 500 steps, f32",
     .sizes = {{"...", 1}, {"w", 500}, {"v", 64}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .draw = draw},
    {.name = "w=256 v=64 f32, 65536 states",
     .sizes = {{"...", 65536}, {"w", 256}, {"v", 64}},
     .dtype = DType::f32,
     .benchmark_only = true},
};

constinit const Definition<A> definition{
    {.name = "state_encode",
     .summary =
         "64 features of a training: statistics of losses and gradient norms, optimizer, phase, weights",
     .source = "Kolmo; quantiles: Hyndman & Fan 1996"},
    {.check = check, .flops = flops, .cases = cases}};

}  // namespace

constinit const Op<A> state_encode{definition};
extern constinit const Impl<A> state_encode_cpu = cpu::each_team<StateEncoders>();

}  // namespace kolmo
