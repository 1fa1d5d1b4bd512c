#include <algorithm>
#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/training/world_model_gradient/world_model_gradient.hpp"

namespace kolmo::check {
namespace {
using A = WorldModelGradientArgs;
using Real = long double;

/// A number and its derivative by one parameter. The oracle runs a member once for each of them.
struct Dual {
  Real v = 0, d = 0;
};
Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d - b.d}; }
Dual operator*(Dual a, Dual b) { return {a.v * b.v, a.d * b.v + a.v * b.d}; }
Dual operator*(Real a, Dual b) { return {a * b.v, a * b.d}; }
Dual tanh_of(Dual a) {
  const Real t = std::tanh(a.v);
  return {t, a.d * (1 - t * t)};
}
Dual logistic(Dual a) { return Real(0.5) * (Dual{1} + tanh_of(Real(0.5) * a)); }
Dual huber(Dual e) {
  const Real turn = 0.05L;
  if (std::abs(e.v) <= turn) return {e.v * e.v / (2 * turn), e.d * e.v / turn};
  return {std::abs(e.v) - turn / 2, e.v > 0 ? e.d : -e.d};
}

/// A member whose parameters are read in order, the derivative being by number `by`.
struct Model {
  const A& a;
  std::int64_t member, by, n = a.hidden, next = 0;

  Dual take() {
    const std::int64_t i = next++;
    return {get(a.parameters, member * a.parameters.dim(-1) + i), i == by ? 1.0L : 0.0L};
  }
  std::vector<Dual> take(std::int64_t count) {
    std::vector<Dual> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(take());
    return all;
  }
  std::vector<Dual> in = take(24 * n), back = take(3 * n * n), bias = take(4 * n), of_state = take(32 * n),
                    of_plan = take(96), head_bias = take(32), out = take(32);
  Dual out_bias = take();

  std::vector<Dual> after(const std::vector<Dual>& x, const std::vector<Dual>& h) const {
    std::vector<Dual> to;
    const auto at = [](std::int64_t i) { return std::size_t(i); };
    for (std::int64_t i = 0; i < n; ++i) {
      Dual g[4];  // n, r, z, q
      for (std::int64_t k = 0; k < 4; ++k) {
        g[k] = bias[at(k * n + i)];
        for (std::int64_t j = 0; k < 3 && j < 8; ++j) g[k] = g[k] + in[at(j * 3 * n + k * n + i)] * x[at(j)];
        for (std::int64_t j = 0; k > 0 && j < n; ++j)
          g[k] = g[k] + back[at(j * 3 * n + (k - 1) * n + i)] * h[at(j)];
      }
      const Dual c = tanh_of(g[0] + logistic(g[1]) * g[3]);
      to.push_back(c + logistic(g[2]) * (h[at(i)] - c));
    }
    return to;
  }
  Dual change(const std::vector<Dual>& h, std::int64_t block, bool there) const {
    Dual d = out_bias;
    for (std::size_t j = 0; j < 32; ++j) {
      Dual u = head_bias[j];
      for (std::size_t i = 0; i < h.size(); ++i) u = u + of_state[i * 32 + j] * h[i];
      for (std::size_t i = 0; there && i < 3; ++i)
        u = u + get(a.planned, block * 3 + std::int64_t(i)) * of_plan[i * 32 + j];
      d = d + out[j] * u * logistic(u);
    }
    return Real(0.1) * d;
  }
  /// The loss of a window.
  Dual loss(std::int64_t w) const {
    const std::int64_t at = member * a.first.dim(1) + w,
                       first =
                           std::clamp(std::int64_t(get(a.first, at)), std::int64_t(0), a.blocks.dim(0) - 1),
                       length = std::min(std::int64_t(get(a.length, at)), a.blocks.dim(0) - first),
                       start = std::clamp(std::int64_t(get(a.start, member)), std::int64_t(6), a.window - 1),
                       end = std::min(a.window, start + a.ahead);
    const auto trace = [&](std::int64_t t, std::int64_t i) { return get(a.trace, (first + t) * 5 + i); };
    std::vector<Dual> h = std::vector<Dual>(std::size_t(n));
    Dual sum, y, f, s, v;
    Real rate = 0;
    for (std::int64_t t = 0; t < end; ++t) {
      const bool there = t < length;
      std::vector<Dual> x;
      for (std::int64_t i = 0; i < 8; ++i) x.push_back({there ? get(a.blocks, (first + t) * 8 + i) : 0});
      if (t == start - 1) rate = x[7].v;
      Dual d;
      if (t >= 5) d = change(h, first + t, there);
      if (t >= 5 && t <= start && there) {
        const Dual e = d + Dual{trace(t - 1, 3) + 0.93L * trace(t - 1, 4) - trace(t, 0)};
        sum = sum + Real(1) / Real(start) * huber(e);
      }
      if (t == start) {
        const std::int64_t last = start - 1 < length ? start - 1 : 0;
        y = {trace(last, 3)}, f = {trace(last, 1)}, s = {trace(last, 2)}, v = {trace(last, 4)};
      }
      if (t >= start) {
        v = 0.93L * v, y = y + v + d;
        f = f + 0.3L * (y - f), s = s + 0.07L * (y - s);
        x[0] = y, x[1] = Real(10) * (v + d), x[2] = Real(10) * (f - y), x[3] = Real(5) * (s - y),
        x[7] = {rate};
        if (there) sum = sum + Real(a.closed) * huber(y - Dual{trace(t, 0)});
      }
      h = after(x, h);
    }
    return sum;
  }
};

void expected(const A& a) {
  const std::int64_t windows = a.first.dim(1), count = a.parameters.dim(-1);
  for (std::int64_t member = 0; member < a.first.dim(0); ++member) {
    std::vector<Real> gradient(std::size_t(count), 0);
    Real loss = 0, squares = 0;
    for (std::int64_t by = 0; by < count; ++by) {
      const Model model{a, member, by};
      for (std::int64_t w = 0; w < windows; ++w) {
        const Dual of = model.loss(w);
        gradient[std::size_t(by)] += of.d / Real(windows);
        if (by == 0) loss += of.v / Real(windows);
      }
    }
    for (const Real g : gradient) squares += g * g;
    const Real scale = a.clip ? std::min(Real(1), Real(*a.clip) / (std::sqrt(squares) + 1e-6L)) : 1;
    for (std::int64_t i = 0; i < count; ++i)
      put(a.gradient, member * count + i, scale * gradient[std::size_t(i)]);
    put(a.loss, member, loss);
  }
}

/// One member of one unit, whose parameters are 0 but for the last: it predicts no change but out_bias / 10.
struct Flat {
  std::vector<double> blocks = std::vector<double>(80), planned = std::vector<double>(30),
                      trace = std::vector<double>(50), parameters = std::vector<double>(224),
                      gradient = std::vector<double>(224);
  std::int64_t first = 0, length = 9, start = 6;
  double loss = 0;
  void run(Stream& s, A a = {}) {
    a.blocks = tensor(blocks.data(), {10, 8}), a.planned = tensor(planned.data(), {10, 3});
    a.trace = tensor(trace.data(), {10, 5}), a.parameters = tensor(parameters.data(), {1, 224});
    a.first = tensor(&first, {1, 1}), a.length = tensor(&length, {1, 1}), a.start = tensor(&start, {1});
    a.gradient = tensor(gradient.data(), {1, 224}), a.loss = tensor(&loss, {1});
    a.hidden = 1, a.window = 9;
    call(world_model_gradient, a, s);
  }
};

constexpr Fact facts[] = {
    {"by hand: a constant change that misses constant losses",
     [](Stream& s) {
       Flat one;
       one.parameters.back() = 2;  // d = 0.2: predictions miss by 0.2, and in closed loop by 0.2, 0.4, 0.6
       one.run(s, {.closed = 0.5});
       // Blocks 5 and 6 each have H(0.2) / 6; H(e) = e - 0.025. Slopes are 1, by 0.1 for each prediction.
       expect_near(one.loss, 2 * 0.175 / 6 + 0.5 * (1.2 - 3 * 0.025), 1e-15, "loss");
       expect_near(one.gradient.back(), 0.1 * (2. / 6 + 0.5 * (1 + 2 + 3)), 1e-15, "gradient of out_bias");
       one.run(s, {.closed = 0.5, .clip = 0.1});
       expect_near(one.gradient.back(), 0.1, 1e-6, "clipped");
     }},
    {"blocks that there are not have no loss",
     [](Stream& s) {
       Flat one;
       one.parameters.back() = 2, one.length = 6;
       one.run(s);
       expect_near(one.loss, 0.175 / 6, 1e-15, "loss of block 5");
       one.first = 1 << 20, one.start = 1 << 20, one.length = 1 << 20;
       one.run(s);  // one block is left, before the first prediction
       expect(one.loss == 0 && one.gradient.back() == 0, "clamped");
     }},
    {"a number of parameters that does not fit the units is refused",
     [](Stream& s) {
       Flat one;
       expect_invalid(
           [&] {
             A a;
             a.hidden = 2;
             a.blocks = tensor(one.blocks.data(), {10, 8}), a.planned = tensor(one.planned.data(), {10, 3});
             a.trace = tensor(one.trace.data(), {10, 5}),
             a.parameters = tensor(one.parameters.data(), {1, 224});
             a.first = tensor(&one.first, {1, 1}), a.length = tensor(&one.length, {1, 1});
             a.start = tensor(&one.start, {1}), a.loss = tensor(&one.loss, {1});
             a.gradient = tensor(one.gradient.data(), {1, 224});
             call(world_model_gradient, a, s);
           },
           "a member has 224 parameters, but 2 units need 293");
     }},
};

}  // namespace

extern constinit const Oracle<A> world_model_gradient_oracle{world_model_gradient, expected, facts};

}  // namespace kolmo::check
