#include <algorithm>
#include <cmath>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/spiking/stdp_update/stdp_update.hpp"

namespace kolmo::check {
namespace {
using A = StdpUpdateArgs;

/// Takes the events one by one, in the order that the header defines.
void expected(const A& a) {
  const std::int64_t m = a.weight.dim(-2), n = a.weight.dim(-1);
  const auto number = [](double v) { return static_cast<long double>(v); };
  const auto clip = [&](long double w) { return std::clamp(w, number(a.low), number(a.high)); };
  for (std::int64_t i = 0; i < a.pre_trace.size(); ++i)
    put(a.pre_trace, i, get(a.pre_trace, i) * std::exp(-number(a.dt) / number(a.tau_plus)));
  for (std::int64_t j = 0; j < a.post_trace.size(); ++j)
    put(a.post_trace, j, get(a.post_trace, j) * std::exp(-number(a.dt) / number(a.tau_minus)));
  for (std::int64_t i = 0; i < a.pre.size(); ++i) {
    if (get(a.pre, i) == 0) continue;
    put(a.pre_trace, i, get(a.pre_trace, i) + 1);
    for (std::int64_t j = 0; j < n; ++j)
      put(a.weight, i * n + j,
          clip(get(a.weight, i * n + j) - number(a.a_minus) * get(a.post_trace, i / m * n + j)));
  }
  for (std::int64_t j = 0; j < a.post.size(); ++j) {
    if (get(a.post, j) == 0) continue;
    put(a.post_trace, j, get(a.post_trace, j) + 1);
    for (std::int64_t i = j / n * m; i < (j / n + 1) * m; ++i)
      put(a.weight, i * n + j % n,
          clip(get(a.weight, i * n + j % n) + number(a.a_plus) * get(a.pre_trace, i)));
  }
}

struct Pair {
  double weight = 0.5, pre_trace = 0, post_trace = 0;
  void step(bool pre, bool post, A a, Stream& s) {
    a.pre = tensor(&pre, {1}), a.post = tensor(&post, {1}), a.weight = tensor(&weight, {1, 1});
    a.pre_trace = tensor(&pre_trace, {1}), a.post_trace = tensor(&post_trace, {1});
    call(stdp_update, a, s);
  }
};

/// The change of a weight by spikes of the neurons before and after it at these steps.
double change(int pre, int post, const A& a, Stream& s) {
  Pair pair;
  for (int t = 0; t <= std::max(pre, post); ++t) pair.step(t == pre, t == post, a, s);
  return pair.weight - 0.5;
}

constexpr Fact facts[] = {
    {"pairs 3 steps apart: + a_plus e^(-3 dt / tau_plus), or - a_minus e^(-3 dt / tau_minus)",
     [](Stream& s) {
       const A a{.dt = 0.01, .tau_plus = 0.02, .tau_minus = 0.04, .a_plus = 0.25, .a_minus = 0.125};
       expect_near(change(1, 4, a, s), 0.25 * std::exp(-1.5), 1e-15, "presynaptic first");
       expect_near(change(5, 2, a, s), -0.125 * std::exp(-0.75), 1e-15, "postsynaptic first");
       expect_near(change(2, 2, a, s), 0.25, 1e-15, "both at once");
     }},
    {"every earlier spike counts",
     [](Stream& s) {
       const A a{.dt = 0.01, .tau_plus = 0.02, .a_plus = 0.125};
       Pair pair;
       pair.step(true, false, a, s), pair.step(true, false, a, s), pair.step(false, true, a, s);
       expect_near(pair.weight, 0.5 + 0.125 * (std::exp(-1.0) + std::exp(-0.5)), 1e-15, "sum over pairs");
     }},
    {"weights stay within their bounds, silent ones as they are",
     [](Stream& s) {
       const A a{.a_plus = 0.3, .a_minus = 0.4, .low = 0.25, .high = 0.75};
       Pair up, down{.post_trace = 1}, silent{.weight = 7};
       for (int i = 0; i < 5; ++i) up.step(true, true, a, s), down.step(true, false, a, s);
       silent.step(false, false, a, s);
       expect(up.weight <= 0.75 && down.weight == 0.25 && silent.weight == 7, "bounds");
       up.step(false, true, a, s);
       expect(up.weight == 0.75, "upper bound");
     }},
    {"the bounds the wrong way round are refused",
     [](Stream& s) {
       expect_invalid([&] { Pair().step(true, true, {.low = 2}, s); },
                      "stdp_update: low must not exceed high");
     }},
};

}  // namespace

extern constinit const Oracle<A> stdp_update_oracle{stdp_update, expected, facts};

}  // namespace kolmo::check
