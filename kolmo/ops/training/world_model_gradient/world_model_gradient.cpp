#include "kolmo/ops/training/world_model_gradient/world_model_gradient.hpp"

#include <string>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/training/world_model_gradient/gradient_steps.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/skeleton/item_steps_cpu.hpp"

namespace kolmo {
namespace {
using A = WorldModelGradientArgs;

void check(const A& a) {
  const std::int64_t count = MemberSizes{int(a.hidden)}.count(), p = a.parameters.dim(-1);
  if (p != count)
    fail<InvalidArgument>("world_model_gradient: a member has " + std::to_string(p) + " parameters, but " +
                          std::to_string(a.hidden) + " units need " + std::to_string(count));
  require(a.blocks.dim(0) > 0 || a.first.size() == 0, "world_model_gradient: blocks must not be empty");
}
/// Three products with each matrix for each block of the longest windows, and 120 operations for the gates of a unit.
double flops(const A& a) {
  const double n = double(a.hidden), heads = MemberSizes::head;
  return double(a.first.size() * a.window) *
         (3 * 2 * (3 * n * (8 + n) + heads * (n + 3)) + 120 * (n + heads));
}

/// Draws windows of blocks and parameters near 0, so that a member hardly enlarges an error; averages and anchors near the losses.
template <class T>
void windows(A& a, CaseRandom& r) {
  const auto draw = [&](const Tensor& t, std::int64_t from, std::int64_t count) {
    for (std::int64_t i = 0; i < t.size(); ++i) t.as<std::int64_t>()[i] = from + r.below(count);
  };
  const std::int64_t blocks = a.blocks.dim(0);
  draw(a.first, 0, blocks - a.window + 5), draw(a.length, a.window - 4, 5);
  draw(a.start, 6, a.window - 6);
  for (std::int64_t i = 0; i < a.parameters.size(); ++i) a.parameters.as<T>()[i] *= T(0.1);
  for (std::int64_t t = 0; t < blocks; ++t) {
    T* const of = a.trace.as<T>() + t * 5;
    for (int i = 1; i < 5; ++i) of[i] = T(0.02) * of[i] + (i < 4 ? of[0] : T(0));
  }
}
template <class T>
void clipped(A& a, CaseRandom& r) {
  windows<T>(a, r), a.clip = 0.01, a.closed = 2;
}

// The argument of a gate is a sum of K = n + 8 terms of about 0.1, an input in closed loop 10 times a sum, and the Huber loss turns its
// error by 20: a gradient of d errs by 200 (2 K + 16) units. The weight 0.1 / w of a loss and parameters near 0.1 make that
// 2 (2 K + 16) / w; errors of T blocks of w windows point either way, and add up to less than w T / 4 of them.
constexpr double bound(double units, double blocks) { return (2 * (units + 8) + 16) * blocks / 2; }
constexpr Case<A> cases[] = {
    {.name = "one unit",
     .sizes = {{"b", 9}, {"m", 1}, {"w", 1}, {"p", 224}, {"hidden", 1}, {"window", 7}},
     .tolerance = absolute(bound(1, 7) * 0x1p-53),
     .draw = windows<double>},
    {.name = "2 members of 3 units",
     .sizes = {{"b", 40}, {"m", 2}, {"w", 3}, {"p", 368}, {"hidden", 3}, {"window", 14}, {"ahead", 5}},
     .tolerance = absolute(bound(3, 14) * 0x1p-53),
     .draw = windows<double>},
    {.name = "3 members of 5 units, clipped",
     .sizes = {{"b", 50}, {"m", 3}, {"w", 9}, {"p", 536}, {"hidden", 5}, {"window", 12}, {"ahead", 4}},
     .tolerance = absolute(bound(5, 12) * 0x1p-53),
     .draw = clipped<double>},
    {.name = "9 units, f32",
     .sizes = {{"b", 64}, {"m", 1}, {"w", 2}, {"p", 944}, {"hidden", 9}, {"window", 24}},
     .dtype = DType::f32,
     .tolerance = absolute(bound(9, 24) * 0x1p-24),
     .draw = windows<float>},
    {.name = "5 members of 48 units, 64 windows, f32",
     .sizes = {{"b", 19200}, {"m", 5}, {"w", 64}, {"p", 9953}, {"hidden", 48}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .draw = clipped<float>},
    {.name = "5 members of 256 units, 64 windows, f32",
     .sizes = {{"b", 19200}, {"m", 5}, {"w", 64}, {"p", 212129}, {"hidden", 256}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .draw = clipped<float>},
};

constinit const Definition<A> definition{{.name = "world_model_gradient",
                                          .summary = "gradient of the loss of recurrent models of trainings, "
                                                     "which read windows and run ahead, by back-propagation",
                                          .source = "Cho et al. 2014; Williams and Peng 1990"},
                                         {.check = check, .flops = flops, .cases = cases}};

struct CpuTeams {
  Stream& stream;
  template <class F>
  void operator()(const F& f) const {
    parallel_for(stream.threads(), f.items(), [&](std::int64_t i, int) { f(i, LoneThread(), nullptr); });
  }
};

}  // namespace

constinit const Op<A> world_model_gradient{definition};
extern constinit const Impl<A> world_model_gradient_cpu{
    {.launch =
         [](const A& a, Arena arena, Stream& s, int) {
           visit<double, float>(a.parameters.dtype, [&]<class T> {
             GradientSteps<T>(arena, a).run(a, cpu::ItemSteps{s}, CpuTeams{s});
           });
         },
     .lay =
         [](Arena& arena, const A& a, const Site&) {
           visit<double, float>(a.parameters.dtype, [&]<class T> { GradientSteps<T>(arena, a); });
         }}};

}  // namespace kolmo
