#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kolmo/ops/training/world_model_gradient/member_sizes.hpp"
#include "kolmo/predict/model/lanes.hpp"

namespace kolmo::predict {

/// One member: its parameters, and what it computes for `Lanes` trainings at once. Arrays are [unit][lane].
template <class T>
struct Member {
  MemberSizes sizes;
  const T* parameters;

  /// Takes a block: x has `inputs` units. `h` becomes the next state, `gates` (4 hidden units) what cell_gradient() needs.
  template <int Lanes>
  void cell(const T* x, const T* h, T* gates, T* next) const {
    const int n = sizes.hidden;
    const T* const bias = parameters + sizes.bias();
    for (int i = 0; i < 4 * n; ++i)
      for (int l = 0; l < Lanes; ++l) gates[i * Lanes + l] = bias[i];
    add_product<Lanes>(parameters + sizes.input(), 1, 3 * n, 3 * n, MemberSizes::inputs, x, gates);
    add_product<Lanes>(parameters + sizes.recurrent(), 1, 3 * n, 3 * n, n, h, gates + n * Lanes);
    T *const c = gates, *const r = gates + n * Lanes, *const z = gates + 2 * n * Lanes,
             *const m = gates + 3 * n * Lanes;
#pragma omp simd
    for (int i = 0; i < n * Lanes; ++i) {
      r[i] = sigmoid_lane(r[i]), z[i] = sigmoid_lane(z[i]);
      c[i] = tanh_lane(c[i] + r[i] * m[i]);
      next[i] = c[i] + z[i] * (h[i] - c[i]);
    }
  }

  /// Replaces `gates` by the gradients of their arguments, and the gradient `of_h` of the next state by that of h. If `of_x` is
  /// given, it becomes the gradient of x.
  template <int Lanes>
  void cell_gradient(const T* h, T* gates, T* of_h, T* of_x) const {
    const int n = sizes.hidden;
    T *const c = gates, *const r = gates + n * Lanes, *const z = gates + 2 * n * Lanes,
             *const m = gates + 3 * n * Lanes;
#pragma omp simd
    for (int i = 0; i < n * Lanes; ++i) {
      const T of_c = of_h[i] * (1 - z[i]) * (1 - c[i] * c[i]);
      const T of_z = of_h[i] * (h[i] - c[i]) * z[i] * (1 - z[i]);
      of_h[i] *= z[i];
      z[i] = of_z, c[i] = of_c;
      const T reset = r[i];
      r[i] = of_c * m[i] * reset * (1 - reset), m[i] = of_c * reset;
    }
    add_product<Lanes>(parameters + sizes.recurrent(), 3 * n, 1, n, 3 * n, gates + n * Lanes, of_h);
    if (!of_x) return;
    for (int i = 0; i < MemberSizes::inputs * Lanes; ++i) of_x[i] = 0;
    add_product<Lanes>(parameters + sizes.input(), 3 * n, 1, MemberSizes::inputs, 3 * n, gates, of_x);
  }

  /// The predicted change of the logarithm of the loss to the next block. `a` (head units) is what head_gradient() needs.
  template <int Lanes>
  void change(const T* h, const T* planned, T* a, T* d) const {
    constexpr int m = MemberSizes::head;
    const T *const bias = parameters + sizes.head_bias(), *const out = parameters + sizes.out();
    for (int i = 0; i < m; ++i)
      for (int l = 0; l < Lanes; ++l) a[i * Lanes + l] = bias[i];
    add_product<Lanes>(parameters + sizes.of_state(), 1, m, m, sizes.hidden, h, a);
    add_product<Lanes>(parameters + sizes.of_plan(), 1, m, m, MemberSizes::planned, planned, a);
    for (int l = 0; l < Lanes; ++l) d[l] = parameters[sizes.out_bias()];
    for (int i = 0; i < m; ++i)
#pragma omp simd
      for (int l = 0; l < Lanes; ++l) d[l] += out[i] * a[i * Lanes + l] * sigmoid_lane(a[i * Lanes + l]);
    for (int l = 0; l < Lanes; ++l) d[l] *= T(0.1);
  }

  /// Replaces `a` by its gradient for the gradient `of_d` of the change, adds to that of h, and to those of out and out_bias.
  template <int Lanes>
  void head_gradient(const T* of_d, T* a, T* of_h, T* gradient) const {
    constexpr int m = MemberSizes::head;
    const T* const out = parameters + sizes.out();
    for (int l = 0; l < Lanes; ++l) gradient[sizes.out_bias()] += T(0.1) * of_d[l];
    for (int i = 0; i < m; ++i) {
      T product[Lanes];
#pragma omp simd
      for (int l = 0; l < Lanes; ++l) {
        const T v = a[i * Lanes + l], s = sigmoid_lane(v), g = T(0.1) * of_d[l];
        product[l] = g * v * s;
        a[i * Lanes + l] = g * out[i] * (s + v * s * (1 - s));
      }
      for (int l = 0; l < Lanes; ++l) gradient[sizes.out() + i] += product[l];
    }
    add_product<Lanes>(parameters + sizes.of_state(), m, 1, sizes.hidden, m, a, of_h);
  }
};

}  // namespace kolmo::predict
