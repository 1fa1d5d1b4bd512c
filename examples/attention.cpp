// Two attention heads copy a sequence that they have seen once: a head that looks back one place, and an induction
// head, which finds what followed the present token before.
#include "kolmo/ops/nn/attention/attention.hpp"

#include <cmath>

#include "examples/plot.hpp"
#include "kolmo/ops/nn/embedding_lookup/embedding_lookup.hpp"
#include "kolmo/ops/nn/rope_encoding/rope_encoding.hpp"
#include "kolmo/ops/random/random_normal/random_normal.hpp"

using example::Numbers;

int main(int argc, char** argv) {
  constexpr std::int64_t period = 24, s = 1 + 2 * period, d = 64, words = 500;
  kolmo::Stream stream;
  const auto matrix = [](Numbers& x) { return kolmo::tensor(x.data(), {1, std::int64_t(x.size()) / d, d}); };
  std::vector<std::int64_t> tokens(s);  // word 0 begins, then come 24 words, twice
  for (std::size_t i = 1; i < s; ++i) tokens[i] = std::int64_t(1 + (i - 1) % period * 19);
  Numbers table(words * d), x(s * d), ones(s * d, 1), query(s * d), key(s * d), previous(s * d);
  kolmo::random_normal({.values = kolmo::tensor(table.data(), {words * d}), .n = words * d, .seed = 1},
                       stream);
  kolmo::embedding_lookup({.table = kolmo::tensor(table.data(), {words, d}),
                           .index = kolmo::tensor(tokens.data(), {s}),
                           .y = kolmo::tensor(x.data(), {s, d})},
                          stream);

  // Queries and keys are equal; only rotary positions tell them apart: keys are turned one place further.
  kolmo::rope_encoding({.x = matrix(ones), .y = matrix(query), .theta = 4}, stream);
  kolmo::rope_encoding({.x = matrix(ones), .y = matrix(key), .theta = 4, .offset = 1}, stream);
  // The weights of the attention are the result of attention whose values are the unit vectors.
  Numbers unit(s * d), looks_back(s * d), copies(s * d);
  for (std::size_t i = 0; i < s; ++i) unit[i * d + i] = 1;
  const auto attend = [&](Numbers& q, Numbers& k, Numbers& v, Numbers& y, double scale) {
    kolmo::attention({.q = matrix(q),
                      .k = matrix(k),
                      .v = matrix(v),
                      .y = matrix(y),
                      .causal = kolmo::Causal::upper_left,
                      .scale = scale},
                     stream);
  };
  attend(query, key, unit, looks_back, 1), attend(query, key, x, previous, 1);
  // Keys hold the token before each place, values the token at it. So the key that equals the present token
  // leads to the token that followed it.
  Numbers next(s * d);
  attend(x, previous, unit, copies, 1 / std::sqrt(double(d))),
      attend(x, previous, x, next, 1 / std::sqrt(double(d)));

  int right = 0;
  double least = 1;
  for (std::size_t i = period + 1; i + 1 < s; ++i) {
    std::int64_t best = 0;
    double most = -1e9;
    for (std::int64_t w = 0; w < words; ++w) {
      double score = 0;
      for (std::size_t c = 0; c < d; ++c) score += next[i * d + c] * table[std::size_t(w * d) + c];
      if (score > most) most = score, best = w;
    }
    right += best == tokens[i + 1];
    least = std::min(least, copies[i * d + i - period + 1]);
  }
  std::printf("tokens foretold in the second half: %d of %d; least weight on what followed before: %.2f\n",
              right, int(period - 1), least);
  example::Plot plot("Two attention heads copy a sequence of 24 words", "position that asks",
                     "position that is asked", {0, 48}, {0, 48});
  const auto map = [&](const Numbers& weights, const std::string& name, const std::string& colour) {
    plot.points({}, {}, name, colour);
    for (std::size_t i = 0; i < s; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        if (const double w = weights[i * d + j]; w > 0.003)
          plot.points({double(i)}, {double(j)}, "", colour, 3.5 * std::sqrt(w));
  };
  map(looks_back, "previous token (area: weight)", "#2471a3"), map(copies, "induction", "#c0392b");
  plot.save(argc > 1 ? argv[1] : nullptr);
  return right == period - 1 && least > 0.5 ? 0 : 1;
}
