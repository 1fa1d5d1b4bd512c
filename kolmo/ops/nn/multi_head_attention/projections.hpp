#pragma once
#include <array>

#include "kolmo/op/inside.hpp"
#include "kolmo/ops/nn/linear/linear.hpp"
#include "kolmo/ops/nn/multi_head_attention/multi_head_attention.hpp"

namespace kolmo {

/// The operators that multi_head_attention consists of, with the memory between them.
struct MultiHeadSteps {
  std::array<LinearArgs, 3> in;
  AttentionArgs heads;
  LinearArgs out;

  MultiHeadSteps(Arena& arena, const MultiHeadAttentionArgs& a) {
    const std::int64_t e = a.query.dim(-1), width = e / a.heads, s = a.query.dim(-2), t = a.key.dim(-2);
    std::int64_t batch = 1;
    for (int d = 0; d < a.query.rank - 2; ++d) batch *= a.query.dim(d);
    const DType type = a.query.dtype;
    const auto scratch = [&](std::int64_t rows) {
      void* const memory = arena.take<std::byte>(batch * rows * e * std::int64_t(size_of(type)));
      return tensor(memory, type, std::array{batch, rows, e}, a.query.device);
    };
    const auto of_heads = [&](const Tensor& x) {
      return tensor(x.data, type, std::array{batch, x.dim(-2), a.heads, width}, x.device);
    };
    const Tensor sequences[] = {a.query, a.key, a.value};
    for (int i = 0; i < 3; ++i)
      in[std::size_t(i)] = {.x = sequences[i],
                            .weight = third(a.in_proj_weight, i),
                            .bias = third(a.in_proj_bias, i),
                            .y = scratch(i ? t : s)};
    const Tensor means = scratch(s);
    heads = {.q = of_heads(in[0].y),
             .k = of_heads(in[1].y),
             .v = of_heads(in[2].y),
             .mask = a.mask,
             .y = of_heads(means),
             .causal = a.causal,
             .layout = HeadLayout::heads_last};
    if (a.mask.given())
      heads.mask =
          tensor(a.mask.data, a.mask.dtype, std::array{batch, a.mask.dim(-2), a.mask.dim(-1)}, a.mask.device);
    out = {.x = means, .weight = a.out_proj_weight, .bias = a.out_proj_bias, .y = a.y};
  }
  void lay(Arena& arena, const Site& site) const {
    for (const LinearArgs& l : in) lay_inside(linear, &l, arena, site);
    lay_inside(attention, &heads, arena, site), lay_inside(linear, &out, arena, site);
  }
  void run(Arena& arena, Stream& s) const {
    for (const LinearArgs& l : in)
      if (l.y.size()) run_inside(linear, &l, arena, s);
    run_inside(attention, &heads, arena, s), run_inside(linear, &out, arena, s);
  }

 private:
  /// One third of the rows of weights, or of a bias.
  static Tensor third(Tensor t, std::int64_t i) {
    if (!t.given()) return t;
    t.extent[0] /= 3;
    if (t.data)
      t.data =
          static_cast<std::byte*>(t.data) + std::size_t(i * t.extent[0] * t.stride[0]) * size_of(t.dtype);
    return t;
  }
};

/// The code for every device.
inline constexpr ImplCode<MultiHeadAttentionArgs> multi_head_code{
    .launch = [](const MultiHeadAttentionArgs& a, Arena arena, Stream& s,
                 int) { MultiHeadSteps(arena, a).run(arena, s); },
    .lay = [](Arena& arena, const MultiHeadAttentionArgs& a,
              const Site& site) { MultiHeadSteps(arena, a).lay(arena, site); }};

}  // namespace kolmo
