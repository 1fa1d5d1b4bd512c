#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/recurrent/gru_backward/gru_backward.hpp"
#include "kolmo/ops/recurrent/gru_sequences/gru_sequences.hpp"

namespace kolmo::check {
namespace {
using Numbers = std::vector<long double>;

/// Back-propagates through one sequence, element by element, in long double.
struct BackwardSequence {
  const GruBackwardArgs& a;
  std::int64_t n, k, steps, b;
  Numbers grad;

  long double weight(const Tensor& w, std::int64_t row, std::int64_t column) const {
    return get(w, row * w.dim(1) + column);
  }
  long double input(std::int64_t t, std::int64_t j) const { return get(a.x, (b * steps + t) * k + j); }
  long double state(std::int64_t t, std::int64_t j) const {
    return t < 0 ? get(a.h, b * n + j) : get(a.states, (b * steps + t) * n + j);
  }
  long double of_x(std::int64_t t, std::int64_t row) const {
    long double sum = a.bias_ih.given() ? get(a.bias_ih, row) : 0;
    for (std::int64_t j = 0; j < k; ++j) sum += weight(a.weight_ih, row, j) * input(t, j);
    return sum;
  }
  long double of_h(std::int64_t row, const Numbers& h) const {
    long double sum = a.bias_hh.given() ? get(a.bias_hh, row) : 0;
    for (std::int64_t j = 0; j < n; ++j) sum += weight(a.weight_hh, row, j) * h[std::size_t(j)];
    return sum;
  }
  static void add(const Tensor& t, std::int64_t i, long double value) {
    if (t.given()) put(t, i, get(t, i) + value);
  }
  /// Adds what the gradients of the arguments of a gate give to its weights and to what they multiply.
  void through_x(std::int64_t t, std::int64_t row, long double d) const {
    add(a.grad_bias_ih, row, d);
    for (std::int64_t j = 0; j < k; ++j) {
      add(a.grad_weight_ih, row * k + j, d * input(t, j));
      add(a.grad_x, (b * steps + t) * k + j, d * weight(a.weight_ih, row, j));
    }
  }
  void through_h(std::int64_t row, long double d, const Numbers& h, Numbers& to) const {
    add(a.grad_bias_hh, row, d);
    for (std::int64_t j = 0; j < n; ++j) {
      add(a.grad_weight_hh, row * n + j, d * h[std::size_t(j)]);
      to[std::size_t(j)] += d * weight(a.weight_hh, row, j);
    }
  }
  void step(std::int64_t t) {
    Numbers h, r, reset, before(std::size_t(n), 0.0L), of_reset(std::size_t(n), 0.0L);
    for (std::int64_t i = 0; i < n; ++i) h.push_back(state(t - 1, i));
    for (std::int64_t i = 0; i < n; ++i) {
      r.push_back((1 + std::tanh((of_x(t, i) + of_h(i, h)) / 2)) / 2);
      reset.push_back(r.back() * h[std::size_t(i)]);
    }
    const bool first = a.reset == GruReset::before;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = std::size_t(i);
      const long double z = (1 + std::tanh((of_x(t, n + i) + of_h(n + i, h)) / 2)) / 2;
      const long double of_state = of_h(2 * n + i, first ? reset : h);
      const long double c = std::tanh(of_x(t, 2 * n + i) + (first ? of_state : r[at] * of_state));
      const long double d = grad[at] + get(a.grad_states, (b * steps + t) * n + i);
      const long double of_c = d * (1 - z) * (1 - c * c), of_z = d * (h[at] - c) * z * (1 - z);
      before[at] += d * z;
      through_x(t, 2 * n + i, of_c), through_x(t, n + i, of_z), through_h(n + i, of_z, h, before);
      if (first) {
        through_h(2 * n + i, of_c, reset, of_reset);
      } else {
        through_h(2 * n + i, of_c * r[at], h, before);
        const long double of_r = of_c * of_state * r[at] * (1 - r[at]);
        through_x(t, i, of_r), through_h(i, of_r, h, before);
      }
    }
    for (std::int64_t i = 0; first && i < n; ++i) {
      const auto at = std::size_t(i);
      const long double of_r = of_reset[at] * h[at] * r[at] * (1 - r[at]);
      before[at] += of_reset[at] * r[at];
      through_x(t, i, of_r), through_h(i, of_r, h, before);
    }
    grad = before;
  }
};

void expect_backward(const GruBackwardArgs& a) {
  const std::int64_t n = a.h.dim(-1), k = a.x.dim(-1), steps = a.x.dim(-2);
  for (const Tensor* t :
       {static_cast<const Tensor*>(&a.grad_x), static_cast<const Tensor*>(&a.grad_weight_ih),
        static_cast<const Tensor*>(&a.grad_weight_hh), static_cast<const Tensor*>(&a.grad_bias_ih),
        static_cast<const Tensor*>(&a.grad_bias_hh)})
    for (std::int64_t i = 0; t->given() && i < t->size(); ++i) put(*t, i, 0);
  for (std::int64_t b = 0; b < a.h.size() / n; ++b) {
    BackwardSequence sequence{a, n, k, steps, b, {}};
    for (std::int64_t i = 0; i < n; ++i)
      sequence.grad.push_back(a.grad_last.given() ? get(a.grad_last, b * n + i) : 0);
    for (std::int64_t t = steps; t-- > 0;) sequence.step(t);
    for (std::int64_t i = 0; i < n; ++i) put(a.grad_h, b * n + i, sequence.grad[std::size_t(i)]);
  }
}

/// Two sequences of three steps of two units, and a loss: the sum of c_i s_i over all states, and of e_i s_i
/// over the last ones. Its gradient is compared with differences of gru_forward.
struct SmallGru {
  static constexpr std::int64_t n = 2, k = 2, steps = 3, batch = 2;
  double x[batch * steps * k], h[batch * n], ih[3 * n * k], hh[3 * n * n], bias_ih[3 * n], bias_hh[3 * n],
      c[batch * steps * n], e[batch * n], states[batch * steps * n];
  GruReset reset;

  explicit SmallGru(GruReset r) : reset(r) {
    double pace = 0.3;
    const auto fill = [&](auto& v) {
      for (double& value : v) value = std::sin(pace), pace += 1.7;
    };
    fill(x), fill(h), fill(ih), fill(hh), fill(bias_ih), fill(bias_hh), fill(c), fill(e);
  }
  double loss(Stream& s) {
    call(gru_forward,
         {.x = tensor(x, {batch, steps, k}),
          .h = tensor(h, {batch, n}),
          .weight_ih = tensor(ih, {3 * n, k}),
          .weight_hh = tensor(hh, {3 * n, n}),
          .bias_ih = tensor(bias_ih, {3 * n}),
          .bias_hh = tensor(bias_hh, {3 * n}),
          .states = tensor(states, {batch, steps, n}),
          .reset = reset},
         s);
    double sum = 0;
    for (std::int64_t i = 0; i < batch * steps * n; ++i) sum += c[i] * states[i];
    for (std::int64_t i = 0; i < batch * n; ++i)
      sum += e[i] * states[(i / n * steps + steps - 1) * n + i % n];
    return sum;
  }
  template <std::size_t Size>
  void check(double (&v)[Size], const double (&gradient)[Size], const char* what, Stream& s) {
    constexpr double d = 1e-4;  // errs by d^2 / 6 of a third derivative below 10, and by 2^-52 / d
    for (std::size_t i = 0; i < Size; ++i) {
      const double old = v[i];
      v[i] = old + d;
      const double up = loss(s);
      v[i] = old - d;
      const double down = loss(s);
      v[i] = old;
      expect_near(gradient[i], (up - down) / (2 * d), 5e-8, what);
    }
  }
};

constexpr Fact backward_facts[] = {
    {"differences of gru_forward, in both forms",
     [](Stream& s) {
       for (const GruReset reset : {GruReset::after, GruReset::before}) {
         SmallGru g(reset), d(reset);
         g.loss(s);
         call(gru_backward,
              {.x = tensor(g.x, {2, 3, 2}),
               .h = tensor(g.h, {2, 2}),
               .weight_ih = tensor(g.ih, {6, 2}),
               .weight_hh = tensor(g.hh, {6, 2}),
               .states = tensor(g.states, {2, 3, 2}),
               .grad_states = tensor(g.c, {2, 3, 2}),
               .bias_ih = tensor(g.bias_ih, {6}),
               .bias_hh = tensor(g.bias_hh, {6}),
               .grad_last = tensor(g.e, {2, 2}),
               .grad_x = tensor(d.x, {2, 3, 2}),
               .grad_h = tensor(d.h, {2, 2}),
               .grad_weight_ih = tensor(d.ih, {6, 2}),
               .grad_weight_hh = tensor(d.hh, {6, 2}),
               .grad_bias_ih = tensor(d.bias_ih, {6}),
               .grad_bias_hh = tensor(d.bias_hh, {6}),
               .reset = reset},
              s);
         g.check(g.x, d.x, "x", s), g.check(g.h, d.h, "h", s);
         g.check(g.ih, d.ih, "weight_ih", s), g.check(g.hh, d.hh, "weight_hh", s);
         g.check(g.bias_ih, d.bias_ih, "bias_ih", s), g.check(g.bias_hh, d.bias_hh, "bias_hh", s);
       }
     }},
    {"no step at all: the gradient of the last state is that of the first, and weights have none",
     [](Stream& s) {
       double h[] = {0.25, 7}, w[12] = {}, last[] = {3, -4}, grad_h[2], grad_ih[6], grad_hh[12];
       call(gru_backward,
            {.x = tensor(w, {0, 1}),
             .h = tensor(h, {2}),
             .weight_ih = tensor(w, {6, 1}),
             .weight_hh = tensor(w, {6, 2}),
             .states = tensor(w, {0, 2}),
             .grad_states = tensor(w, {0, 2}),
             .grad_last = tensor(last, {2}),
             .grad_x = tensor(grad_h, {0, 1}),
             .grad_h = tensor(grad_h, {2}),
             .grad_weight_ih = tensor(grad_ih, {6, 1}),
             .grad_weight_hh = tensor(grad_hh, {6, 2})},
            s);
       expect(grad_h[0] == 3 && grad_h[1] == -4, "the gradient has changed");
       for (const double g : grad_ih) expect(g == 0, "a weight has a gradient");
       for (const double g : grad_hh) expect(g == 0, "a weight has a gradient");
     }},
    {"weights of another number of gates are refused",
     [](Stream& s) {
       double v[4] = {}, out[4];
       expect_invalid(
           [&] {
             call(gru_backward,
                  {.x = tensor(v, {1, 1}),
                   .h = tensor(v, {1}),
                   .weight_ih = tensor(v, {4, 1}),
                   .weight_hh = tensor(v, {4, 1}),
                   .states = tensor(v, {1, 1}),
                   .grad_states = tensor(v, {1, 1}),
                   .grad_x = tensor(out, {1, 1}),
                   .grad_h = tensor(out, {1}),
                   .grad_weight_ih = tensor(out, {4, 1}),
                   .grad_weight_hh = tensor(out, {4, 1})},
                  s);
           },
           "gru_backward: weight_ih has 4 rows, but 1 units need 3");
     }},
};

}  // namespace

extern constinit const Oracle<GruBackwardArgs> gru_backward_oracle{gru_backward, expect_backward,
                                                                   backward_facts};

}  // namespace kolmo::check
