#include <algorithm>
#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/nn/multi_head_attention/multi_head_attention.hpp"

namespace kolmo::check {
namespace {
using Matrix = std::vector<std::vector<long double>>;

/// Multiplies the rows of a sequence by the transpose of the rows of the weights from `from` on, and adds the
/// bias.
Matrix projected(const Tensor& x, std::int64_t entry, const Tensor& weights, const Tensor& bias,
                 std::int64_t from) {
  const std::int64_t rows = x.dim(-2), e = x.dim(-1);
  Matrix all(static_cast<std::size_t>(rows), std::vector<long double>(std::size_t(e), 0));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t o = 0; o < e; ++o) {
      long double sum = bias.given() ? get(bias, from + o) : 0;
      for (std::int64_t c = 0; c < e; ++c)
        sum += get(x, (entry * rows + i) * e + c) * get(weights, (from + o) * e + c);
      all[std::size_t(i)][std::size_t(o)] = sum;
    }
  return all;
}

bool takes_part(const MultiHeadAttentionArgs& a, std::int64_t entry, std::int64_t i, std::int64_t j) {
  const std::int64_t s = a.query.dim(-2), t = a.key.dim(-2);
  if (a.causal == Causal::upper_left && j > i) return false;
  if (a.causal == Causal::lower_right && j - t > i - s) return false;
  if (!a.mask.given()) return true;
  return get(a.mask, entry * a.mask.dim(-2) * t + (a.mask.dim(-2) == 1 ? 0 : i * t) + j) != 0;
}

void expected(const MultiHeadAttentionArgs& a) {
  const std::int64_t s = a.query.dim(-2), t = a.key.dim(-2), e = a.query.dim(-1), width = e / a.heads;
  for (std::int64_t entry = 0; entry * s * e < a.y.size(); ++entry) {
    const Matrix q = projected(a.query, entry, a.in_proj_weight, a.in_proj_bias, 0),
                 k = projected(a.key, entry, a.in_proj_weight, a.in_proj_bias, e),
                 v = projected(a.value, entry, a.in_proj_weight, a.in_proj_bias, 2 * e);
    for (std::size_t i = 0; i < std::size_t(s); ++i) {
      std::vector<long double> mean(static_cast<std::size_t>(e), 0);
      for (std::size_t first = 0; first < std::size_t(e); first += std::size_t(width)) {
        std::vector<long double> weight(static_cast<std::size_t>(t), -HUGE_VALL);
        long double largest = -HUGE_VALL, total = 0;
        for (std::size_t j = 0; j < weight.size(); ++j) {
          if (!takes_part(a, entry, std::int64_t(i), std::int64_t(j))) continue;
          weight[j] = 0;
          for (std::size_t c = first; c < first + std::size_t(width); ++c) weight[j] += q[i][c] * k[j][c];
          weight[j] /= std::sqrt(static_cast<long double>(width));
          largest = std::max(largest, weight[j]);
        }
        for (long double& w : weight) total += w = w == -HUGE_VALL ? 0 : std::exp(w - largest);
        for (std::size_t c = first; c < first + std::size_t(width); ++c)
          for (std::size_t j = 0; j < weight.size() && total > 0; ++j) mean[c] += weight[j] / total * v[j][c];
      }
      for (std::int64_t o = 0; o < e; ++o) {
        long double sum = a.out_proj_bias.given() ? get(a.out_proj_bias, o) : 0;
        for (std::int64_t c = 0; c < e; ++c) sum += mean[std::size_t(c)] * get(a.out_proj_weight, o * e + c);
        put(a.y, (entry * s + std::int64_t(i)) * e + o, sum);
      }
    }
  }
}

constexpr Fact facts[] = {
    {"by hand: W_k = 0 makes the weights equal, so that y is W_o times the mean of W_v times the values",
     [](Stream& s) {
       double query[] = {3}, sequence[] = {1, 2, 6}, in[] = {1, 0, 2}, out[] = {5}, y[1] = {};
       call(multi_head_attention,
            {.query = tensor(query, {1, 1}),
             .key = tensor(sequence, {3, 1}),
             .value = tensor(sequence, {3, 1}),
             .in_proj_weight = tensor(in, {3, 1}),
             .out_proj_weight = tensor(out, {1, 1}),
             .y = tensor(y, {1, 1})},
            s);
       expect_near(y[0], 5 * 2 * 3, 1e-14, "y");
     }},
    {"each head has its own columns, and a query that sees no key gets the bias",
     [](Stream& s) {
       float query[] = {1, 1}, key[] = {1, 0, 0, 1}, value[] = {1, 2, 3, 4}, out[] = {1, 0, 0, 1},
             bias[] = {7, 8}, in[] = {1, 0, 0, 1, 50, 0, 0, 50, 1, 0, 0, 1}, y[2] = {};
       bool mask[] = {true, true};
       const MultiHeadAttentionArgs a{.query = tensor(query, {1, 2}),
                                      .key = tensor(key, {2, 2}),
                                      .value = tensor(value, {2, 2}),
                                      .in_proj_weight = tensor(in, {6, 2}),
                                      .out_proj_weight = tensor(out, {2, 2}),
                                      .out_proj_bias = tensor(bias, {2}),
                                      .mask = tensor(mask, {1, 2}),
                                      .y = tensor(y, {1, 2}),
                                      .heads = 2};
       call(multi_head_attention, a, s);
       expect(y[0] == 7 + 1 && y[1] == 8 + 4, "head 1 looks at key 1, head 2 at key 2");
       mask[0] = mask[1] = false;
       call(multi_head_attention, a, s);
       expect(y[0] == 7 && y[1] == 8, "not the bias");
     }},
    {"wrong weights, heads and masks are refused",
     [](Stream& s) {
       float x[2048] = {};
       bool mask[9] = {};
       MultiHeadAttentionArgs a{.query = tensor(x, {2, 4}),
                                .key = tensor(x, {3, 4}),
                                .value = tensor(x, {3, 4}),
                                .in_proj_weight = tensor(x, {8, 4}),
                                .out_proj_weight = tensor(x, {4, 4}),
                                .y = tensor(x + 1024, {2, 4})};
       const auto refused = [&](const char* message) {
         expect_invalid([&] { call(multi_head_attention, a, s); }, message);
       };
       refused("in_proj_weight has 8 rows, but sequences of 4 elements need 12");
       a.in_proj_weight = tensor(x, {12, 4}), a.heads = 3;
       refused("3 heads do not divide the 4 elements of query");
       a.heads = 2, a.mask = tensor(mask, {3, 3});
       refused(", expected 1 or 2 rows of 3");
     }},
};

}  // namespace

extern constinit const Oracle<MultiHeadAttentionArgs> multi_head_attention_oracle{multi_head_attention,
                                                                                  expected, facts};

}  // namespace kolmo::check
