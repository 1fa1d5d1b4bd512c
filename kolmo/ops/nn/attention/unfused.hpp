#pragma once
#include <array>
#include <cmath>

#include "kolmo/op/inside.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"
#include "kolmo/ops/nn/attention/attention_call.hpp"
#include "kolmo/ops/nn/softmax/softmax.hpp"

namespace kolmo {

/// Sets scores that a query does not see to -inf.
template <class C>
struct HideScores : AttentionMask {
  C* scores;
  HideScores(const AttentionArgs& a, C* all) : AttentionMask(a), scores(all) {}
  std::int64_t items() const { return groups * rows * t; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const std::int64_t row = i / t;
    if (!sees(row / rows, row % rows % s, i % t)) scores[i] = C(-INFINITY);
  }
};

/// Sets the result of queries that see no key to 0.
struct ClearUnseeing : AttentionMask {
  unsigned char* y;
  std::int64_t bytes;  ///< of one row
  explicit ClearUnseeing(const AttentionArgs& a)
      : AttentionMask(a),
        y(static_cast<unsigned char*>(a.y.data)),
        bytes(a.y.dim(-1) * std::int64_t(size_of(a.y.dtype))) {}
  std::int64_t items() const { return groups * rows; }
  KOLMO_HD void operator()(std::int64_t i) const {
    for (std::int64_t key = 0; key < t; ++key)
      if (sees(i / rows, i % rows % s, key)) return;
    for (std::int64_t b = 0; b < bytes; ++b) y[i * bytes + b] = 0;
  }
};

template <class T>
struct NarrowWeights {
  const float* from;
  T* to;
  std::int64_t count;
  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t i) const { to[i] = T(from[i]); }
};

/// The baseline: a product, a mask, a softmax and a product, which keep all scores in the workspace.
struct UnfusedAttention {
  MatmulArgs products, means;
  SoftmaxArgs rows;
  bool narrows;

  UnfusedAttention(Arena& arena, const AttentionArgs& a) {
    const AttentionSizes n(a);
    const std::int64_t groups = n.batch * n.kv_heads, high = n.kv_heads ? n.heads / n.kv_heads * n.s : 0;
    const DType type = a.q.dtype == DType::f64 ? DType::f64 : DType::f32;
    narrows = type != a.q.dtype;
    const auto matrices = [&](void* data, DType dtype, std::int64_t m, std::int64_t k) {
      return tensor(data, dtype, std::array{groups, m, k}, a.q.device);
    };
    const auto scratch = [&](DType dtype) {
      return matrices(arena.take<std::byte>(groups * high * n.t * std::int64_t(size_of(dtype))), dtype, high,
                      n.t);
    };
    const Tensor scores = scratch(type), shares = scratch(type),
                 weights = narrows ? scratch(a.q.dtype) : shares;
    products = {.a = matrices(a.q.data, a.q.dtype, high, n.d),
                .b = matrices(a.k.data, a.k.dtype, n.t, n.d),
                .y = scores,
                .alpha = a.scale ? *a.scale : 1 / std::sqrt(double(n.d)),
                .transpose_b = true,
                .output = narrows ? MatmulOutput::f32 : MatmulOutput::same};
    rows = {.x = scores, .y = shares};
    means = {.a = weights,
             .b = matrices(a.v.data, a.v.dtype, n.t, n.d),
             .y = matrices(a.y.data, a.y.dtype, high, n.d)};
  }
  void lay(Arena& arena, const Site& site) const {
    lay_inside(matmul, &products, arena, site), lay_inside(softmax, &rows, arena, site);
    lay_inside(matmul, &means, arena, site);
  }
  /// Whether heads come before positions in memory, and the scores are not too many.
  static bool fits(const AttentionArgs& a) {
    const AttentionSizes n(a);
    constexpr double most_scores = double(1 << 30);
    return n.heads_first && n.t &&
           double(n.batch) * double(n.heads) * double(n.s) * double(n.t) < most_scores;
  }
};

/// Computes the operator; each(f) calls f(i) for all items of f.
template <class Each>
void attend_unfused(const AttentionArgs& a, Arena& arena, Stream& s, const Each& each) {
  const UnfusedAttention u(arena, a);
  const bool hides = a.mask.given() || a.causal != Causal::none;
  run_inside(matmul, &u.products, arena, s);
  if (hides)
    visit<double, float>(u.products.y.dtype, [&]<class C> { each(HideScores<C>(a, u.products.y.as<C>())); });
  run_inside(softmax, &u.rows, arena, s);
  if (u.narrows)
    visit<Half, BFloat16>(a.q.dtype, [&]<class T> {
      each(NarrowWeights<T>{u.rows.y.as<float>(), u.means.a.as<T>(), u.rows.y.size()});
    });
  run_inside(matmul, &u.means, arena, s);
  if (hides) each(ClearUnseeing(a));
}

}  // namespace kolmo
