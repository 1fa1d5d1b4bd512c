#pragma once
// A row of logits from which words are drawn, by a group of threads: of a block on a GPU, or a single one on
// the CPU. A Group has
//   int thread, threads;
//   SamplingMemory memory;                          // shared by the group
//   void sync() const;
//   C largest(C value) const;                       // over the group
//   void add(std::uint64_t* sum, std::uint64_t) const;  // by any threads at once
#include <bit>
#include <limits>
#include <type_traits>

#include "kolmo/base/exp.hpp"
#include "kolmo/base/half.hpp"
#include "kolmo/base/philox.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/ops/random/top_k_sampling/top_k_sampling.hpp"

namespace kolmo {

/// `bins` of 256; `ties` and `weights`, one for each thread and one more.
struct SamplingMemory {
  std::uint64_t *bins, *coarse, *ties, *weights;
};

/// The upper half of a product of 128 bits.
KOLMO_HD constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t low = 0xffffffff, a0 = a & low, a1 = a >> 32, b0 = b & low, b1 = b >> 32;
  const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & low);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

template <class T, class Group>
class SamplingRow {
  using C = Compute<T>;
  using Key = std::conditional_t<sizeof(C) == 8, std::uint64_t, std::uint32_t>;

 public:
  KOLMO_HD SamplingRow(const Group& group, const T* logits, std::int64_t v, double temperature)
      : g_(group), logits_(logits), v_(v), temperature_(temperature) {}

  /// Finds the largest logit; false if the row is faulty, which is reported.
  KOLMO_HD bool measure(std::int64_t row, const Status& status) {
    constexpr C infinity = std::numeric_limits<C>::infinity();
    C most = -infinity, faulty = 0;
    for (std::int64_t i = g_.thread; i < v_; i += g_.threads) {
      const C x = C(logits_[i]);
      if (!(x < infinity)) status.report(0, row * v_ + i), faulty = 1;
      if (x > most) most = x;
    }
    largest_ = g_.largest(most);
    if (g_.largest(faulty) > 0) return false;
    if (largest_ > -infinity) return true;
    if (g_.thread == 0) status.report(1, row);
    return false;
  }
  /// Restricts the words that may be drawn.
  KOLMO_HD void restrict_to(std::int64_t top_k, double top_p) {
    if (top_k > 0 && top_k < v_) cut([](C) { return std::uint64_t(1); }, std::uint64_t(top_k));
    sum_up();
    if (top_p == 1) return;
    const auto share = std::uint64_t(exact_mul(top_p, double(total())));
    cut([this](C x) { return weight(x); }, share > 1 ? share : 1);
    sum_up();
  }
  /// Writes draws j = thread, thread + threads, ... of n. Element e is the first one's place in the sequence.
  KOLMO_HD void draw(const Philox& philox, std::int64_t e, std::int64_t n, std::int64_t* index,
                     double* probability) const {
    for (std::int64_t j = g_.thread; j < n; j += g_.threads) {
      const auto place = std::uint64_t(e + j);
      const Philox::Words words = philox(place / 2, 0);
      const std::uint32_t high_word = place % 2 ? words.w[2] : words.w[0],
                          low_word = place % 2 ? words.w[3] : words.w[1];
      const std::uint64_t at = high_product(std::uint64_t(high_word) << 32 | low_word, total());
      int low = 0, high = g_.threads - 1;  // the last thread whose words begin at or below `at`
      while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (g_.memory.weights[middle] <= at)
          low = middle;
        else
          high = middle - 1;
      }
      std::uint64_t sum = g_.memory.weights[low];
      each_of(low, [&](std::int64_t i, std::uint64_t own) {
        sum += own;
        if (sum <= at) return false;
        index[j] = i;
        if (probability) probability[j] = double(own) / double(total());
        return true;
      });
    }
  }

 private:
  KOLMO_HD std::uint64_t total() const { return g_.memory.weights[g_.threads]; }
  /// Larger for larger logits; the same for both zeros.
  KOLMO_HD static Key key(C x) {
    constexpr Key sign = Key(1) << (8 * sizeof(Key) - 1);
    const Key bits = std::bit_cast<Key>(x == 0 ? C(0) : x);
    return bits & sign ? ~bits : bits | sign;
  }
  KOLMO_HD std::uint64_t weight(C x) const {
    return std::uint64_t(exp_exact(exact_add(double(x), -double(largest_)) / temperature_) * 0x1p41);
  }

  /// Sets the shortest beginning of the order whose measures sum to `target`, which all together reach. Finds
  /// its last key eight bits at a time. Words that may not be drawn already are left out, but for ties.
  template <class Measure>
  KOLMO_HD void cut(const Measure& measure, std::uint64_t target) {
    std::uint64_t *const bins = g_.memory.bins, *const coarse = g_.memory.coarse, above = 0;
    Key prefix = 0, mask = 0;
    for (int shift = 8 * int(sizeof(Key)) - 8; shift >= 0; shift -= 8) {
      g_.sync();
      for (int b = g_.thread; b < 256; b += g_.threads) bins[b] = 0;
      g_.sync();
      for (std::int64_t i = g_.thread; i < v_; i += g_.threads) {
        const C x = C(logits_[i]);
        if (const Key k = key(x); (k & mask) == prefix && k >= last_)
          g_.add(bins + (k >> shift & 255), measure(x));
      }
      g_.sync();
      for (int b = g_.thread; b < 16; b += g_.threads) {
        coarse[b] = 0;
        for (int i = 0; i < 16; ++i) coarse[b] += bins[16 * b + i];
      }
      g_.sync();
      int digit = 15;
      for (; digit > 0 && above + coarse[digit] < target; --digit) above += coarse[digit];
      const int first = 16 * digit;
      for (digit = first + 15; digit > first && above + bins[digit] < target; --digit) above += bins[digit];
      prefix |= Key(digit) << shift, mask |= Key(255) << shift;
    }
    const std::uint64_t of_one = measure(value_of(prefix));
    last_ = prefix, ties_ = of_one ? (target - above + of_one - 1) / of_one : 0;
  }
  KOLMO_HD static C value_of(Key key) {
    constexpr Key sign = Key(1) << (8 * sizeof(Key) - 1);
    return std::bit_cast<C>(key & sign ? key ^ sign : Key(~key));
  }

  /// Calls f(i, weight) for every word of a thread that may be drawn, until f is true. A thread's words are
  /// neighbours.
  template <class F>
  KOLMO_HD void each_of(int thread, const F& f) const {
    std::uint64_t ties = g_.memory.ties[thread];
    const std::int64_t each = (v_ + g_.threads - 1) / g_.threads;
    for (std::int64_t i = thread * each, end = i + each < v_ ? i + each : v_; i < end; ++i) {
      const C x = C(logits_[i]);
      const Key k = key(x);
      if (k < last_ || (k == last_ && ties++ >= ties_)) continue;
      if (f(i, weight(x))) return;
    }
  }
  /// Finds how many ties, and what weight, come before the words of each thread.
  KOLMO_HD void sum_up() {
    std::uint64_t ties = 0, weights = 0;
    const std::int64_t each = (v_ + g_.threads - 1) / g_.threads;
    for (std::int64_t i = g_.thread * each, end = i + each < v_ ? i + each : v_; i < end; ++i)
      ties += key(C(logits_[i])) == last_;
    sums_before(g_.memory.ties, ties);
    each_of(g_.thread, [&](std::int64_t, std::uint64_t own) {
      weights += own;
      return false;
    });
    sums_before(g_.memory.weights, weights);
  }
  /// sums[t] = values of the threads before t; the sum of all is the last.
  KOLMO_HD void sums_before(std::uint64_t* sums, std::uint64_t value) const {
    g_.sync();
    if (g_.thread == 0) sums[0] = 0;
    sums[g_.thread + 1] = value;
    g_.sync();
    for (int step = 1; step < g_.threads; step *= 2) {
      const std::uint64_t other = g_.thread >= step ? sums[g_.thread + 1 - step] : 0;
      g_.sync();
      sums[g_.thread + 1] += other;
      g_.sync();
    }
  }

  Group g_;
  const T* logits_;
  std::int64_t v_;
  double temperature_;
  C largest_ = 0;
  Key last_ = 0;  ///< words with larger keys may be drawn, and the first ties_ with this one
  std::uint64_t ties_ = 0;
};

/// Draws from one row. `row` is its number.
template <class T, class Group>
KOLMO_HD void sample_row(const TopKSamplingArgs& a, const Group& group, std::int64_t row, std::int64_t v,
                         const Status& status) {
  auto* const index = static_cast<std::int64_t*>(a.index.data) + row * a.n;
  auto* const probability =
      a.probability.data ? static_cast<double*>(a.probability.data) + row * a.n : nullptr;
  SamplingRow<T, Group> words(group, static_cast<const T*>(a.logits.data) + row * v, v, a.temperature);
  if (words.measure(row, status)) {
    words.restrict_to(a.top_k, a.top_p);
    return words.draw(Philox(a.seed), a.offset + row * a.n, a.n, index, probability);
  }
  for (std::int64_t j = group.thread; j < a.n; j += group.threads) {
    index[j] = -1;
    if (probability) probability[j] = std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace kolmo
