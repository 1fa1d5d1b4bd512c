#pragma once
#include <limits>
#include <type_traits>

#include "kolmo/base/arena.hpp"
#include "kolmo/base/philox.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/ops/random/categorical_sample/categorical_sample.hpp"

namespace kolmo {

template <class T>
KOLMO_HD bool is_weight(T w) {
  return w >= 0 && w <= std::numeric_limits<T>::max();
}
KOLMO_HD inline bool is_total(double sum) { return sum > 0 && sum <= std::numeric_limits<double>::max(); }

/// Rows of weights in blocks of 64. before[r (blocks + 1) + b] is the sum of the weights of row r that
/// precede block b. For rows with many draws, inside[r k + i] is the sum of the weights of i's block up to
/// and with weight i.
template <class T>
struct WeightBlocks {
  static constexpr std::int64_t length = 64;
  const T* weight;
  double *before, *inside;
  std::int64_t rows, k, blocks;
  Status status;

  WeightBlocks(Arena& arena, const CategoricalSampleArgs& a, Status s)
      : weight(a.weight.as<T>()), k(a.weight.dim(-1)), blocks((k + length - 1) / length), status(s) {
    rows = 1;
    for (int d = 0; d + 1 < a.weight.rank; ++d) rows *= a.weight.dim(d);
    before = arena.take<double>(rows * (blocks + 1));
    const bool many = a.n > k / 4;
    inside = arena.take<double>(many ? rows * k : 0);
    if (!many) inside = nullptr;
  }
  /// Reports which of the `count` weights from `begin` on are negative or not finite.
  KOLMO_HD void report(std::int64_t row, std::int64_t begin, std::int64_t count) const {
    for (std::int64_t i = row * k + begin, end = i + count; i < end; ++i)
      if (!is_weight(weight[i])) status.report(0, i);
  }
};

/// Sums each block and checks its weights.
template <class T>
struct SumBlock {
  WeightBlocks<T> of;
  std::int64_t items() const { return of.rows * of.blocks; }
  KOLMO_HD void operator()(std::int64_t item) const {
    const std::int64_t row = quotient(item, of.blocks), begin = (item - row * of.blocks) * of.length,
                       count = of.k - begin < of.length ? of.k - begin : of.length;
    const T* const w = of.weight + row * of.k + begin;
    double sum = 0;
    bool sound = true;
    for (std::int64_t i = 0; i < count; ++i) {
      sound = sound && is_weight(w[i]);
      sum = exact_add(sum, double(w[i]));
      if (of.inside) of.inside[row * of.k + begin + i] = sum;
    }
    if (!sound) of.report(row, begin, count);
    of.before[item + row + 1] = sum;
  }
};

/// Adds up the sums of the blocks of a row.
template <class T>
struct AddBlocks {
  WeightBlocks<T> of;
  std::int64_t items() const { return of.rows; }
  KOLMO_HD void operator()(std::int64_t row) const {
    double* const before = of.before + row * (of.blocks + 1);
    double sum = 0;
    before[0] = 0;
    for (std::int64_t b = 1; b <= of.blocks; ++b) before[b] = sum = exact_add(sum, before[b]);
    if (!is_total(sum)) of.status.report(1, row);
  }
};

/// Finds the first of low, low + 1, ... for which f is true, or `high` if f is false for all below it.
template <class I, class F>
KOLMO_HD I first_of(std::type_identity_t<I> low, I high, const F& f) {
  while (low < high) {
    const I middle = (low + high) / 2;
    if (f(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Says whether a draw takes a category with this sum of the weights up to it; the first such category is
/// drawn. Rounding may make the drawn number equal to `total`, which no sum exceeds; then the first category
/// whose sum is `total` is drawn.
struct Reached {
  double at, total;
  KOLMO_HD bool operator()(double sum) const { return sum > at || sum == total; }
};

/// Draws a category from a row.
template <class T>
struct DrawCategory {
  WeightBlocks<T> of;
  Philox philox;
  std::int64_t offset, n;
  std::int64_t* index;

  DrawCategory(const WeightBlocks<T>& blocks, const CategoricalSampleArgs& a)
      : of(blocks), philox(a.seed), offset(a.offset), n(a.n), index(a.index.as<std::int64_t>()) {}
  std::int64_t items() const { return of.rows * n; }
  /// The random number of draw e. Two draws share the words that Philox makes of e / 2.
  KOLMO_HD static double uniform(const Philox::Words& words, bool odd) {
    return odd ? uniform53(words.w[2], words.w[3]) : uniform53(words.w[0], words.w[1]);
  }
  KOLMO_HD void operator()(std::int64_t item) const {
    const std::int64_t row = quotient(item, n), e = offset + item;
    const Philox::Words words = philox(std::uint64_t(e / 2), 0);
    const double* const before = of.before + row * (of.blocks + 1);
    const double total = before[of.blocks];
    index[item] = -1;
    if (!is_total(total)) return;
    const Reached reached{uniform(words, e % 2) * total, total};
    const std::int64_t low =
        first_of(0, of.blocks - 1, [&](std::int64_t b) { return reached(before[b + 1]); });
    constexpr int together = 64 / int(sizeof(T));  // reads in flight at once
    const T* const w = of.weight + row * of.k;
    const std::int64_t begin = low * of.length, end = begin + of.length < of.k ? begin + of.length : of.k;
    if (of.inside) {
      const double* const sums = of.inside + row * of.k;
      index[item] =
          first_of(begin, end - 1, [&](std::int64_t i) { return reached(exact_add(before[low], sums[i])); });
      return;
    }
    double sum = 0;
    for (std::int64_t i = begin; i < end; i += together) {
      T next[together];
      for (int j = 0; j < together; ++j) next[j] = i + j < end ? w[i + j] : T(0);
      for (int j = 0; j < together; ++j)
        if (sum = exact_add(sum, double(next[j])); i + j < end && reached(exact_add(before[low], sum))) {
          index[item] = i + j;
          return;
        }
    }
  }
};

}  // namespace kolmo
