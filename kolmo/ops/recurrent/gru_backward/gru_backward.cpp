#include "kolmo/ops/recurrent/gru_backward/gru_backward.hpp"

#include <cmath>
#include <string>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/recurrent/gru_backward/backward_steps.hpp"
#include "kolmo/skeleton/item_steps_cpu.hpp"

namespace kolmo {
namespace {
using Backward = GruBackwardArgs;

void check_backward(const Backward& a) {
  const std::int64_t rows = a.weight_ih.dim(0), n = a.h.dim(-1);
  if (rows != 3 * n)
    fail<InvalidArgument>("gru_backward: weight_ih has " + std::to_string(rows) + " rows, but " +
                          std::to_string(n) + " units need " + std::to_string(3 * n));
}
/// Three products with each matrix of weights, and 120 operations for the gates of a unit.
double backward_flops(const Backward& a) {
  const double n = double(a.h.dim(-1)), rows = n > 0 ? double(a.states.size()) / n : 0;
  return rows * (3 * 2 * 3 * n * (double(a.x.dim(-1)) + n) + 120 * n);
}

/// Scales the weights by 1 / (4 sqrt n), so that they hardly enlarge a state or a gradient in a step, and
/// makes states what gates can give.
template <class T>
void shrink_weights(Backward& a) {
  const double n = double(a.h.dim(-1));
  for (Tensor* const w : {static_cast<Tensor*>(&a.weight_ih), static_cast<Tensor*>(&a.weight_hh)})
    for (std::int64_t i = 0; i < w->size(); ++i) w->as<T>()[i] /= T(4 * std::sqrt(n));
  for (Tensor* const w : {static_cast<Tensor*>(&a.h), static_cast<Tensor*>(&a.states)})
    for (std::int64_t i = 0; i < w->size(); ++i) w->as<T>()[i] = std::tanh(w->as<T>()[i]);
}
template <class T>
void backward_before(Backward& a) {
  shrink_weights<T>(a), a.reset = GruReset::before;
}
// The argument of a gate is a sum of K = n + k terms of about 1/4 and errs by less than 2 K + 16 units; so,
// relative to the largest gradient, do the gradients of a step. They grow by less than 1.3 a step: over
// T <= 9 steps a gradient of 1 becomes less than 4 T. Gradients of weights sum R rows with R roundings.
constexpr double backward_bound(double terms, double steps, double rows) {
  return (2 * (2 * terms + 16) + rows) * 4 * steps * rows;
}
constexpr Case<Backward> backward_cases[] = {
    {.name = "one unit, one step",
     .sizes = {{"...", 3}, {"t", 1}, {"n", 1}, {"k", 1}, {"g", 3}},
     .tolerance = absolute(backward_bound(2, 1, 3) * 0x1p-53),
     .setup = shrink_weights<double>},
    {.name = "9 steps of 17 units",
     .sizes = {{"...", 2}, {"t", 9}, {"n", 17}, {"k", 5}, {"g", 51}},
     .tolerance = absolute(backward_bound(22, 9, 18) * 0x1p-53),
     .optional = "bias_ih bias_hh grad_last grad_bias_ih grad_bias_hh",
     .setup = shrink_weights<double>},
    {.name = "7 steps of 33 units, reset before",
     .sizes = {{"...", 3}, {"t", 7}, {"n", 33}, {"k", 9}, {"g", 99}},
     .tolerance = absolute(backward_bound(42, 7, 21) * 0x1p-53),
     .optional = "bias_ih bias_hh grad_bias_hh",
     .setup = backward_before<double>},
    {.name = "6 steps of 65 units, f32",
     .sizes = {{"...", 3}, {"t", 6}, {"n", 65}, {"k", 7}, {"g", 195}},
     .dtype = DType::f32,
     .tolerance = absolute(backward_bound(72, 6, 18) * 0x1p-24),
     .optional = "bias_hh grad_last",
     .setup = shrink_weights<float>},
    {.name = "4 steps of 34 units, reset before, f32",
     .sizes = {{"...", 1}, {"t", 4}, {"n", 34}, {"k", 3}, {"g", 102}},
     .dtype = DType::f32,
     .tolerance = absolute(backward_bound(37, 4, 4) * 0x1p-24),
     .optional = "bias_ih grad_last grad_bias_ih",
     .setup = backward_before<float>},
    {.name = "48 steps of 64 times 48 units, f32",
     .sizes = {{"...", 64}, {"t", 48}, {"n", 48}, {"k", 8}, {"g", 144}},
     .dtype = DType::f32,
     .optional = "bias_ih bias_hh grad_bias_ih grad_bias_hh",
     .benchmark_only = true,
     .setup = shrink_weights<float>},
    {.name = "50 steps of 64 times 256 units, f32",
     .sizes = {{"...", 64}, {"t", 50}, {"n", 256}, {"k", 64}, {"g", 768}},
     .dtype = DType::f32,
     .optional = "bias_ih bias_hh grad_bias_ih grad_bias_hh",
     .benchmark_only = true,
     .setup = shrink_weights<float>},
};

constinit const Definition<Backward> backward_definition{
    {.name = "gru_backward",
     .summary = "gradients of gru_forward by back-propagation through its t steps",
     .source = "Cho et al. 2014; Williams and Peng 1990",
     .matrix_products = true},
    {.check = check_backward, .flops = backward_flops, .cases = backward_cases}};

}  // namespace

constinit const Op<Backward> gru_backward{backward_definition};
extern constinit const Impl<Backward> gru_backward_cpu{
    {.launch =
         [](const Backward& a, Arena arena, Stream& s, int) {
           visit<double, float>(a.h.dtype, [&]<class T> {
             const BackwardSteps w(arena, a);
             w.run<T>(a, arena, s, cpu::ItemSteps{s});
           });
         },
     .lay = [](Arena& arena, const Backward& a,
               const Site& site) { BackwardSteps(arena, a).lay(arena, site); }}};

}  // namespace kolmo
