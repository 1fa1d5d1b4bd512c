#include <algorithm>
#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/nn/attention/attention.hpp"

namespace kolmo::check {
namespace {

/// Index of element e of head `head` at place `at` of a sequence.
std::int64_t index_of(const AttentionArgs& a, const Tensor& x, std::int64_t entry, std::int64_t head,
                      std::int64_t at, std::int64_t e) {
  const bool first = a.layout == HeadLayout::heads_first;
  const std::int64_t row = first ? head * x.dim(-2) + at : at * x.dim(-2) + head;
  return (entry * x.dim(-3) * x.dim(-2) + row) * x.dim(-1) + e;
}

bool is_seen(const AttentionArgs& a, std::int64_t entry, std::int64_t i, std::int64_t j, std::int64_t s,
             std::int64_t t) {
  if (a.causal == Causal::upper_left && j > i) return false;
  if (a.causal == Causal::lower_right && t - 1 - j < s - 1 - i) return false;
  if (!a.mask.given()) return true;
  const std::int64_t rows = a.mask.dim(-2);
  return get(a.mask, (entry * rows + (rows == 1 ? 0 : i)) * t + j) != 0;
}

void expected(const AttentionArgs& a) {
  const int heads_at = a.layout == HeadLayout::heads_first ? -3 : -2, places_at = -5 - heads_at;
  const std::int64_t heads = a.q.dim(heads_at), groups = a.k.dim(heads_at), s = a.q.dim(places_at),
                     t = a.k.dim(places_at), d = a.q.dim(-1);
  for (std::int64_t entry = 0; entry * heads * s * d < a.q.size(); ++entry)
    for (std::int64_t head = 0; head < heads; ++head)
      for (std::int64_t i = 0; i < s; ++i) {
        const std::int64_t group = head * groups / heads;
        std::vector<long double> score, mean(std::size_t(d), 0);
        std::vector<std::int64_t> seen;
        for (std::int64_t j = 0; j < t; ++j) {
          if (!is_seen(a, entry, i, j, s, t)) continue;
          long double product = 0;
          for (std::int64_t e = 0; e < d; ++e)
            product += get(a.q, index_of(a, a.q, entry, head, i, e)) *
                       get(a.k, index_of(a, a.k, entry, group, j, e));
          seen.push_back(j);
          score.push_back(a.scale ? product * static_cast<long double>(*a.scale)
                                  : product / std::sqrt(static_cast<long double>(d)));
        }
        long double largest = -HUGE_VALL, total = 0;
        for (const long double x : score) largest = std::max(largest, x);
        for (std::size_t n = 0; n < seen.size(); ++n) {
          const long double weight = std::exp(score[n] - largest);
          total += weight;
          for (std::int64_t e = 0; e < d; ++e)
            mean[std::size_t(e)] += weight * get(a.v, index_of(a, a.v, entry, group, seen[n], e));
        }
        for (std::int64_t e = 0; e < d; ++e)
          put(a.y, index_of(a, a.y, entry, head, i, e), seen.empty() ? 0 : mean[std::size_t(e)] / total);
      }
}

constexpr Fact facts[] = {
    {"scores 0 and ln 3 weigh the values 1 : 3",
     [](Stream& s) {
       double q[] = {std::log(3.0)}, k[] = {0, 1}, v[] = {8, 4}, y[1] = {};
       call(attention,
            {.q = tensor(q, {1, 1, 1}),
             .k = tensor(k, {1, 2, 1}),
             .v = tensor(v, {1, 2, 1}),
             .y = tensor(y, {1, 1, 1})},
            s);
       expect_near(y[0], (8 + 3 * 4) / 4.0, 0x1p-50, "y");
     }},
    {"equal keys: every query gets the mean of the values it sees, causal on either side",
     [](Stream& s) {
       float q[] = {5, -7}, k[] = {2, 2, 2, 2}, v[] = {1, 3, 8, 4}, y[2] = {};
       const auto run = [&](Causal causal) {
         call(attention,
              {.q = tensor(q, {1, 2, 1}),
               .k = tensor(k, {1, 4, 1}),
               .v = tensor(v, {1, 4, 1}),
               .y = tensor(y, {1, 2, 1}),
               .causal = causal},
              s);
       };
       run(Causal::none), expect(y[0] == 4 && y[1] == 4, "without causality");
       run(Causal::upper_left), expect(y[0] == 1 && y[1] == 2, "causal to the left");
       run(Causal::lower_right), expect(y[0] == 4 && y[1] == 4, "causal to the right");
     }},
    {"queries that see no key get 0: by the mask, by causality, without keys",
     [](Stream& s) {
       float q[] = {1, 2, 3}, k[] = {1, 1}, v[] = {5, 7}, y[] = {9, 9, 9};
       bool mask[] = {false, false, true, false, false, true};
       AttentionArgs a{.q = tensor(q, {1, 3, 1}),
                       .k = tensor(k, {1, 2, 1}),
                       .v = tensor(v, {1, 2, 1}),
                       .mask = tensor(mask, {3, 2}),
                       .y = tensor(y, {1, 3, 1})};
       call(attention, a, s), expect(y[0] == 0 && y[1] == 5 && y[2] == 7, "masked");
       a.mask = {}, a.causal = Causal::lower_right;
       call(attention, a, s), expect(y[0] == 0 && y[1] == 5 && y[2] == 6, "fewer keys than queries");
       a.k = tensor(k, {1, 0, 1}), a.v = tensor(v, {1, 0, 1}), a.causal = Causal::none;
       call(attention, a, s), expect(y[0] == 0 && y[1] == 0 && y[2] == 0, "no keys");
     }},
    {"weights of f16 sum to 1, a constant in all scores changes nothing, and large scores do not overflow",
     [](Stream& s) {
       constexpr std::int64_t t = 300;
       std::vector<Half> q(16, Half(60.0f)), k(t * 16), v(t * 16, Half(-0.75f)), y(16);
       for (std::size_t i = 0; i < k.size(); ++i) k[i] = float(100 + i % 7);
       call(attention,
            {.q = tensor(q.data(), {1, 1, 16}),
             .k = tensor(k.data(), {1, t, 16}),
             .v = tensor(v.data(), {1, t, 16}),
             .y = tensor(y.data(), {1, 1, 16})},
            s);
       for (const Half e : y) expect(std::fabs(float(e) + 0.75f) < 0x1p-10f, "not the one value");
     }},
    {"grouped queries equal repeated key heads, in both layouts",
     [](Stream& s) {
       double q[] = {1, 2, -1, 0.5}, k[] = {1, -1, 2, 0}, v[] = {1, 2, 3, 4}, kk[8], vv[8], y[4], z[4];
       for (const HeadLayout layout : {HeadLayout::heads_first, HeadLayout::heads_last}) {
         const bool first = layout == HeadLayout::heads_first;
         const auto shape = [&](double* x, std::int64_t h, std::int64_t n) {
           return first ? tensor(x, {h, n, 1}) : tensor(x, {n, h, 1});
         };
         for (int h = 0; h < 4; ++h)
           for (int j = 0; j < 2; ++j) {
             const int to = first ? h * 2 + j : j * 4 + h, from = first ? h / 2 * 2 + j : j * 2 + h / 2;
             kk[to] = k[from], vv[to] = v[from];
           }
         call(attention,
              {.q = shape(q, 4, 1),
               .k = shape(k, 2, 2),
               .v = shape(v, 2, 2),
               .y = shape(y, 4, 1),
               .layout = layout},
              s);
         call(attention,
              {.q = shape(q, 4, 1),
               .k = shape(kk, 4, 2),
               .v = shape(vv, 4, 2),
               .y = shape(z, 4, 1),
               .layout = layout},
              s);
         for (int h = 0; h < 4; ++h) expect_near(y[h], z[h], 0x1p-50, "a head");
       }
     }},
    {"65,536 keys (fewer where emulated): the one with the largest score decides",
     [](Stream& s) {
       const std::int64_t t = s.device().kind == DeviceKind::simt ? 2048 : 65536;  // emulation is slow
       std::vector<float> k(std::size_t(t), 0), v(std::size_t(t), 1);
       float q[] = {40}, y[1] = {};
       k[1789] = 1, v[1789] = 7;
       call(attention,
            {.q = tensor(q, {1, 1, 1}),
             .k = tensor(k.data(), {1, t, 1}),
             .v = tensor(v.data(), {1, t, 1}),
             .y = tensor(y, {1, 1, 1})},
            s);
       expect_near(double(y[0]), 7, 1e-6, "y");
     }},
    {"operations are 4 d for each pair of a query and a key that causality leaves",
     [](Stream&) {
       for (const Causal causal : {Causal::none, Causal::upper_left, Causal::lower_right})
         for (std::int64_t queries = 1; queries < 6; ++queries)
           for (std::int64_t keys = 1; keys < 6; ++keys) {
             const std::int64_t shift = causal == Causal::upper_left ? 0 : keys - queries;
             int pairs = 0;
             for (std::int64_t i = 0; i < queries; ++i)
               for (std::int64_t j = 0; j < keys; ++j) pairs += causal == Causal::none || j <= i + shift;
             AttentionArgs a{.causal = causal};
             float none[1];
             static_cast<Tensor&>(a.q) = tensor(none, {2, queries, 3});
             static_cast<Tensor&>(a.k) = tensor(none, {2, keys, 3});
             expect(static_cast<const OpBase&>(attention).flops(&a) == 4 * 2 * 3 * pairs, "operations");
           }
     }},
    {"wrong heads, masks, scales and sizes are refused",
     [](Stream& s) {
       float x[600] = {};
       bool mask[12] = {};
       const auto refused = [&](AttentionArgs a, const char* message) {
         a.y = a.q.given() ? tensor(x + 300, DType::f32, a.q.shape()) : Tensor{};
         expect_invalid([&] { call(attention, a, s); }, message);
       };
       const Tensor kv = tensor(x, {2, 3, 4});
       refused({.q = tensor(x, {3, 3, 4}), .k = kv, .v = kv},
               "k has 2 heads, which do not divide the 3 of q");
       refused({.q = kv, .k = kv, .v = kv, .mask = tensor(mask, {2, 3})}, ", expected 1 or 3 rows of 3");
       refused({.q = kv, .k = kv, .v = kv, .scale = -1.0}, "scale is -1, which is not positive");
       const Tensor wide = tensor(x, {1, 1, 257});
       refused({.q = wide, .k = wide, .v = wide}, "heads of more than 256 elements are not supported");
     }},
};

}  // namespace

extern constinit const Oracle<AttentionArgs> attention_oracle{attention, expected, facts};

}  // namespace kolmo::check
