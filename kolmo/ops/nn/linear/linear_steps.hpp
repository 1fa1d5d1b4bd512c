#pragma once
#include <array>

#include "kolmo/op/inside.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"
#include "kolmo/ops/elementwise/broadcast_add/broadcast_add.hpp"
#include "kolmo/ops/elementwise/unary/unary.hpp"
#include "kolmo/ops/nn/linear/linear.hpp"

namespace kolmo {

inline constexpr Row<bool> linear_rows[] = {
    {.name = "fused", .config = true},
    {.name = "unfused", .config = false, .naive = true},
};

/// Either one product, which includes bias and activation, or, as the baseline, three steps that each pass
/// over y: the product, the sum with the bias, the activation.
struct LinearSteps {
  MatmulArgs product;
  BroadcastAddArgs sum{};
  UnaryArgs relu_of_y{};
  GeluArgs gelu_of_y{};
  bool adds = false, rectifies = false, gelus = false;

  LinearSteps(const LinearArgs& a, bool fused) {
    const std::int64_t k = a.x.dim(-1), n = a.y.dim(-1);
    std::int64_t rows = 1;
    for (int d = 0; d < a.x.rank - 1; ++d) rows *= a.x.dim(d);
    const Tensor y = tensor(a.y.data, a.y.dtype, std::array{rows, n}, a.y.device);
    product = {.a = tensor(a.x.data, a.x.dtype, std::array{rows, k}, a.x.device),
               .b = a.weight,
               .y = y,
               .transpose_b = a.layout == WeightLayout::out_in};
    if (fused) {
      product.bias = a.bias, product.activation = a.activation;
      return;
    }
    adds = a.bias.given(), rectifies = a.activation == Activation::relu;
    gelus = a.activation == Activation::gelu || a.activation == Activation::gelu_tanh;
    sum = {.x = y, .bias = a.bias, .y = y};
    relu_of_y = {.x = y, .y = y};
    gelu_of_y = {.x = y, .y = y, .form = a.activation == Activation::gelu ? GeluForm::erf : GeluForm::tanh};
  }
  bool has_more_than_the_product() const { return adds || rectifies || gelus; }
  void lay(Arena& arena, const Site& site) const {
    lay_inside(matmul, &product, arena, site);
    if (adds) lay_inside(broadcast_add, &sum, arena, site);
    if (rectifies) lay_inside(relu, &relu_of_y, arena, site);
    if (gelus) lay_inside(gelu, &gelu_of_y, arena, site);
  }
  void run(Arena& arena, Stream& s) const {
    run_inside(matmul, &product, arena, s);
    if (adds) run_inside(broadcast_add, &sum, arena, s);
    if (rectifies) run_inside(relu, &relu_of_y, arena, s);
    if (gelus) run_inside(gelu, &gelu_of_y, arena, s);
  }
};

/// The code for every device: the inner operators do all the work.
inline constexpr ImplCode<LinearArgs> linear_code{
    .rows = linear_rows,
    .launch = [](const LinearArgs& a, Arena arena, Stream& s,
                 int row) { LinearSteps(a, linear_rows[row].config).run(arena, s); },
    .lay = [](Arena& arena, const LinearArgs& a,
              const Site& site) { LinearSteps(a, linear_rows[site.row].config).lay(arena, site); },
    // Without a bias or an activation both variants are the product alone.
    .fits =
        [](const LinearArgs& a, int row) {
          return linear_rows[row].config || LinearSteps(a, false).has_more_than_the_product();
        }};

}  // namespace kolmo
