#pragma once
// A row of logits from which words are drawn by a group of threads: those of a block on a GPU, or a single one
// on the CPU. A Group has
//   int thread, threads;
//   int lane, lanes, team, teams;                   // teams of neighbouring threads
//   static constexpr int digit_bits;                // how many bits of a key are found in one pass
//   SamplingMemory<threads, teams, digit_bits>& memory;  // shared by the group
//   const std::uint64_t* weights;                   // of all words, or null if they are to be computed
//   void sync() const;
//   C largest(C value) const;                       // over the group
//   void add(std::uint64_t* sum, std::uint64_t) const;  // several threads may add at once
//   std::uint64_t before(std::uint64_t value) const;    // the sum over the team's lanes before this one
//   std::uint64_t team_sum(std::uint64_t value) const;
//   void walk<packs>(const T* row, int begin, int end, int first, int step, const F& f) const;
//       // Calls f(i, row[i]) for begin <= i < end. `step` threads share the calls; this one is number `first`. Each
//       // reads `packs` packs at once, which may be more the less f does.
#include <bit>
#include <limits>
#include <type_traits>

#include "kolmo/base/exp.hpp"
#include "kolmo/base/half.hpp"
#include "kolmo/base/philox.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/ops/random/top_k_sampling/top_k_sampling.hpp"

namespace kolmo {

/// Sums of bins, and sums over the threads and teams before each thread and team. The last of `sums`, `ties`
/// and `weights` is the sum of all.
template <int Threads, int Teams, int DigitBits>
struct SamplingMemory {
  std::uint64_t bins[1 << DigitBits], sums[Threads + 1], ties[Threads + 1], weights[Threads + 1];
  std::uint64_t of_team[Teams], found[2];
};

/// Maps a logit to an integer of the same order. Both zeros give the same integer, and only a NaN gives 0.
template <class T>
struct SamplingKey {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
  using Key = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  static constexpr int bits = 8 * int(sizeof(T));
  static constexpr Bits sign = Bits(Bits(1) << (bits - 1));

  KOLMO_HD static Key of(T x) {
    const Bits own = std::bit_cast<Bits>(x), b = own == sign ? Bits(0) : own;
    return b & sign ? Bits(~b) : Bits(b | sign);
  }
  KOLMO_HD static Compute<T> value(Key key) {
    return Compute<T>(std::bit_cast<T>(Bits(key & sign ? key ^ sign : ~key)));
  }
};

/// The upper half of a product of 128 bits.
KOLMO_HD constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t low = 0xffffffff, a0 = a & low, a1 = a >> 32, b0 = b & low, b1 = b >> 32;
  const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & low);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

/// Returns the number below `total` that stands at `place` of the random sequence.
KOLMO_HD inline std::uint64_t sampled(const Philox& philox, std::uint64_t place, std::uint64_t total) {
  const Philox::Words words = philox(place / 2, 0);
  const std::uint32_t high = place % 2 ? words.w[2] : words.w[0], low = place % 2 ? words.w[3] : words.w[1];
  return high_product(std::uint64_t(high) << 32 | low, total);
}
/// Returns the least sum that the weights kept by top_p must have, where `total` is the sum of all.
KOLMO_HD inline std::uint64_t sampling_share(double top_p, std::uint64_t total) {
  const auto share = std::uint64_t(exact_mul(top_p, double(total)));
  return share > 1 ? share : 1;
}

/// exp((x - largest) / temperature) 2^41, rounded down.
KOLMO_HD inline std::uint64_t sampling_weight(double x, double largest, double temperature) {
  const double below = exact_add(x, -largest);
  if (below < exact_mul(-29, temperature)) return 0;  // 2^41 < e^29
  return std::uint64_t(exp_exact(below / temperature) * 0x1p41);
}

template <class T, class Group>
class SamplingRow {
  using C = Compute<T>;
  using Keys = SamplingKey<T>;
  using Key = typename Keys::Key;

 public:
  KOLMO_HD SamplingRow(const Group& group, const T* logits, int v, double temperature)
      : g_(group), logits_(logits), v_(v), temperature_(temperature) {}

  /// Finds the largest logit. Reports a faulty row, and then returns false. `own` becomes the largest of the
  /// logits that this thread reads.
  KOLMO_HD bool measure(std::int64_t row, const Status& status, C& own) {
    constexpr C infinity = std::numeric_limits<C>::infinity();
    C most = -infinity, faulty = 0;
    g_.template walk<4>(logits_, 0, v_, g_.thread, g_.threads, [&](int i, T logit) {
      const C x = C(logit);
      if (!(x < infinity)) status.report(0, row * v_ + i), faulty = 1;
      if (x > most) most = x;
    });
    own = most;
    largest_ = g_.largest(most);
    if (g_.largest(faulty) > 0) return false;
    if (largest_ > -infinity) return true;
    if (g_.thread == 0) status.report(1, row);
    return false;
  }
  /// Restricts the words that may be drawn to those that top_k and top_p leave.
  KOLMO_HD void restrict_to(std::int64_t top_k, double top_p) {
    if (top_k > 0 && top_k < v_)
      cut([](C) { return std::uint64_t(1); }, [](int, T) { return std::uint64_t(1); },
          [=](std::uint64_t) { return std::uint64_t(top_k); });
    if (top_p != 1)
      cut([this](C x) { return weight(x); }, [this](int i, T x) { return weight_of(i, x); },
          [=](std::uint64_t total) { return sampling_share(top_p, total); });
    sum_up();
  }
  /// Writes n draws, each by a team. The first one is at place e of the random sequence.
  KOLMO_HD void draw(const Philox& philox, std::int64_t e, std::int64_t n, std::int64_t* index,
                     double* probability) const {
    const std::uint64_t total = g_.memory.weights[g_.threads];
    for (std::int64_t j = g_.team; j < n; j += g_.teams) {
      const std::uint64_t at = sampled(philox, std::uint64_t(e + j), total);
      // Finds the last part whose words begin at or below `at`.
      int low = 0, high = g_.threads - 1;
      while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (g_.memory.weights[middle] <= at)
          low = middle;
        else
          high = middle - 1;
      }
      std::uint64_t sum = g_.memory.weights[low], ties = g_.memory.ties[low];
      for (int from = begin_of(low); sum <= at; from += g_.lanes) {
        const int i = from + g_.lane;
        const Key k = i < v_ ? Keys::of(logits_[i]) : 0;
        const std::uint64_t tie = i < v_ && k == last_, rank = ties + g_.before(tie);
        const std::uint64_t own = k > last_ || (tie && rank < ties_) ? weight_of(i, logits_[i]) : 0;
        const std::uint64_t start = sum + g_.before(own);
        if (start <= at && at < start + own) {
          index[j] = i;
          if (probability) probability[j] = double(own) / double(total);
        }
        sum += g_.team_sum(own), ties += g_.team_sum(tie);
      }
    }
  }
  KOLMO_HD std::uint64_t weight(C x) const {
    return sampling_weight(double(x), double(largest_), temperature_);
  }

 private:
  KOLMO_HD std::uint64_t weight_of(int i, T x) const { return g_.weights ? g_.weights[i] : weight(C(x)); }

  /// Words are ordered by logit. Restricts those that may be drawn to the first ones whose measures sum to at
  /// least target(sum of all). measure(logit) and measure_of(number, logit) give a word's measure. The key of
  /// the last word is found digit by digit.
  template <class Measure, class MeasureOf, class Target>
  KOLMO_HD void cut(const Measure& measure, const MeasureOf& measure_of, const Target& target) {
    std::uint64_t* const bins = g_.memory.bins;
    const std::uint64_t ties = ties_;
    const Key last = last_;
    std::uint64_t rest = 0;
    Key prefix = 0, mask = 0;
    for (int left = Keys::bits; left > 0;) {
      const int width = left < Group::digit_bits ? left : Group::digit_bits, count = 1 << width;
      const int shift = left - width;
      const auto digit_of = [&](Key k) { return std::uint32_t(k >> shift) & std::uint32_t(count - 1); };
      g_.sync();
      for (int b = g_.thread; b < count; b += g_.threads) bins[b] = 0;
      g_.sync();
      g_.template walk<1>(logits_, 0, v_, g_.thread, g_.threads, [&](int i, T x) {
        const Key k = Keys::of(x);
        if (k > last && (k & mask) == prefix) g_.add(bins + digit_of(k), measure_of(i, x));
      });
      if (g_.thread == 0 && ties > 0 && (last & mask) == prefix)
        g_.add(bins + digit_of(last), ties * measure(Keys::value(last)));
      g_.sync();
      const int each = (count + g_.threads - 1) / g_.threads, top = count - 1 - g_.thread * each;
      std::uint64_t own = 0;
      for (int b = top; b > top - each && b >= 0; --b) own += bins[b];
      sums_before(g_.memory.sums, own);
      if (left == Keys::bits) rest = target(g_.memory.sums[g_.threads]);
      std::uint64_t above = g_.memory.sums[g_.thread];
      if (above < rest && rest <= above + own) {
        int b = top;
        for (; above + bins[b] < rest; --b) above += bins[b];
        g_.memory.found[0] = std::uint64_t(b), g_.memory.found[1] = above;
      }
      g_.sync();
      prefix |= Key(g_.memory.found[0]) << shift, mask |= Key(count - 1) << shift;
      rest -= g_.memory.found[1], left = shift;
    }
    const std::uint64_t of_one = measure(Keys::value(prefix));
    last_ = prefix, ties_ = (rest + of_one - 1) / of_one;
  }

  /// Returns where a part of the row begins; there are as many parts as threads. A team reads each part in
  /// whole packs, but for the first and the last part.
  KOLMO_HD int begin_of(int part) const {
    const int pack = g_.lanes > 1 ? 16 / int(sizeof(T)) : 1, step = g_.lanes * pack;
    const int past = int(reinterpret_cast<std::uintptr_t>(logits_) / sizeof(T) % unsigned(pack));
    const int each = ((v_ + past + step - 1) / step + g_.threads - 1) / g_.threads * step;
    const int begin = part * each - past;
    return begin < 0 ? 0 : begin < v_ ? begin : v_;
  }
  /// Finds how many words with the last key come before each part, and the sum of the weights before it.
  KOLMO_HD void sum_up() {
    std::uint64_t *const ties = g_.memory.ties, *const weights = g_.memory.weights;
    g_.sync();
    for (int part = g_.team; part < g_.threads; part += g_.teams) {
      std::uint64_t equal = 0, sum = 0;
      g_.template walk<1>(logits_, begin_of(part), begin_of(part + 1), g_.lane, g_.lanes, [&](int i, T x) {
        const Key k = Keys::of(x);
        if (k == last_) ++equal;
        if (k > last_) sum += weight_of(i, x);
      });
      equal = g_.team_sum(equal), sum = g_.team_sum(sum);
      if (g_.lane == 0) ties[part + 1] = equal, weights[part + 1] = sum;
    }
    g_.sync();
    const std::uint64_t equal = ties[g_.thread + 1], sum = weights[g_.thread + 1];
    sums_before(ties, equal);
    const std::uint64_t before = ties[g_.thread], left = before < ties_ ? ties_ - before : 0;
    const std::uint64_t kept = equal < left ? equal : left;
    sums_before(weights, kept ? sum + kept * weight(Keys::value(last_)) : sum);
  }
  /// Sets sums[t] to the sum of the values of the threads before t. The last element is the sum of all.
  KOLMO_HD void sums_before(std::uint64_t* sums, std::uint64_t value) const {
    std::uint64_t sum = g_.before(value);
    g_.sync();
    if (g_.lane == g_.lanes - 1) g_.memory.of_team[g_.team] = sum + value;
    g_.sync();
    for (int team = 0; team < g_.team; ++team) sum += g_.memory.of_team[team];
    sums[g_.thread] = sum;
    if (g_.thread == g_.threads - 1) sums[g_.threads] = sum + value;
    g_.sync();
  }

  Group g_;
  const T* logits_;
  int v_;
  double temperature_;
  C largest_ = 0;
  /// Words with larger keys than this one may be drawn, and the first `ties_` words with this one.
  Key last_ = 0;
  std::uint64_t ties_ = 0;
};

/// Draws from row number `row`. Once the row is measured, few(words, own largest logit, philox, first place,
/// index, probability) may draw in another way; it returns whether it did.
template <class T, class Group, class Few>
KOLMO_HD void sample_row(const TopKSamplingArgs& a, const Group& group, std::int64_t row, int v,
                         const Status& status, const Few& few) {
  auto* const index = static_cast<std::int64_t*>(a.index.data) + row * a.n;
  auto* const probability =
      a.probability.data ? static_cast<double*>(a.probability.data) + row * a.n : nullptr;
  SamplingRow<T, Group> words(group, static_cast<const T*>(a.logits.data) + row * v, v, a.temperature);
  Compute<T> own;
  if (words.measure(row, status, own)) {
    const Philox philox(a.seed);
    const std::int64_t first = a.offset + row * a.n;
    if (few(words, own, philox, first, index, probability)) return;
    words.restrict_to(a.top_k, a.top_p);
    return words.draw(philox, first, a.n, index, probability);
  }
  for (std::int64_t j = group.thread; j < a.n; j += group.threads) {
    index[j] = -1;
    if (probability) probability[j] = std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace kolmo
