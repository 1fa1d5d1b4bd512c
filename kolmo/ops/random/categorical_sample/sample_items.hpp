#pragma once
#include <limits>

#include "kolmo/base/arena.hpp"
#include "kolmo/base/philox.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/ops/random/categorical_sample/categorical_sample.hpp"

namespace kolmo {

/// Rows of weights in blocks of 64. before[r (blocks + 1) + b] is the sum of row r before block b.
template <class T>
struct WeightBlocks {
  static constexpr std::int64_t length = 64;
  const T* weight;
  double* before;
  std::int64_t rows, k, blocks;
  Status status;

  WeightBlocks(Arena& arena, const CategoricalSampleArgs& a, Status s)
      : weight(a.weight.as<T>()), k(a.weight.dim(-1)), blocks((k + length - 1) / length), status(s) {
    rows = 1;
    for (int d = 0; d + 1 < a.weight.rank; ++d) rows *= a.weight.dim(d);
    before = arena.take<double>(rows * (blocks + 1));
  }
  /// Calls f(i, sum of the block's weights up to and with the i-th) for each i of a block, until f is true.
  template <class F>
  KOLMO_HD void scan(std::int64_t row, std::int64_t block, const F& f) const {
    double sum = 0;
    const T* const w = weight + row * k;
    for (std::int64_t i = block * length, end = i + length < k ? i + length : k; i < end; ++i)
      if (sum = exact_add(sum, double(w[i])); f(i, sum)) return;
  }
};

/// Sums each block and looks at its weights.
template <class T>
struct SumBlock {
  WeightBlocks<T> of;
  std::int64_t items() const { return of.rows * of.blocks; }
  KOLMO_HD void operator()(std::int64_t item) const {
    const std::int64_t row = quotient(item, of.blocks), block = item - row * of.blocks;
    double total = 0;
    of.scan(row, block, [&](std::int64_t i, double sum) {
      const double w = double(of.weight[row * of.k + i]);
      if (!(w >= 0 && w <= std::numeric_limits<double>::max())) of.status.report(0, row * of.k + i);
      total = sum;
      return false;
    });
    of.before[item + row + 1] = total;
  }
};

/// Adds the sums of the blocks of a row.
template <class T>
struct AddBlocks {
  WeightBlocks<T> of;
  std::int64_t items() const { return of.rows; }
  KOLMO_HD void operator()(std::int64_t row) const {
    double* const before = of.before + row * (of.blocks + 1);
    double sum = 0;
    before[0] = 0;
    for (std::int64_t b = 1; b <= of.blocks; ++b) before[b] = sum = exact_add(sum, before[b]);
    if (!(sum > 0 && sum <= std::numeric_limits<double>::max())) of.status.report(1, row);
  }
};

/// Draws from a row.
template <class T>
struct DrawCategory {
  WeightBlocks<T> of;
  Philox philox;
  std::int64_t offset, n;
  std::int64_t* index;

  DrawCategory(const WeightBlocks<T>& blocks, const CategoricalSampleArgs& a)
      : of(blocks), philox(a.seed), offset(a.offset), n(a.n), index(a.index.as<std::int64_t>()) {}
  std::int64_t items() const { return of.rows * n; }
  KOLMO_HD void operator()(std::int64_t item) const {
    const std::int64_t row = quotient(item, n), e = offset + item;
    const Philox::Words words = philox(std::uint64_t(e / 2), 0);
    const double* const before = of.before + row * (of.blocks + 1);
    const double total = before[of.blocks];
    index[item] = -1;
    if (!(total > 0 && total <= std::numeric_limits<double>::max())) return;
    const double at = (e % 2 ? uniform53(words.w[2], words.w[3]) : uniform53(words.w[0], words.w[1])) * total;
    // Rounding may give `total` itself: then the first category that reaches it.
    const auto reached = [=](double sum) { return sum > at || sum == total; };
    std::int64_t low = 0, high = of.blocks - 1;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (reached(before[middle + 1]))
        high = middle;
      else
        low = middle + 1;
    }
    of.scan(row, low, [&](std::int64_t i, double sum) {
      if (!reached(exact_add(before[low], sum))) return false;
      index[item] = i;
      return true;
    });
  }
};

}  // namespace kolmo
