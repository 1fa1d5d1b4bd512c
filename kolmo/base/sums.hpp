#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "kolmo/base/arena.hpp"
#include "kolmo/base/quotient.hpp"

namespace kolmo {

// Sums whose bits depend on the terms alone, not on device, variant or threads. A row is cut into chunks of
// sum_chunk terms. Term i of a chunk goes to lane i % sum_lanes, and each lane adds its terms in order. Then
// the upper half of the lanes is added to the lower half until one lane is left. The sums of the chunks are
// added in the same way. Error for a row of n terms: at most (24 + n / 2^19) roundings of the sum of
// magnitudes.
inline constexpr int sum_lanes = 256;
inline constexpr std::int64_t sum_chunk = 2048;

/// Replaces any NaN by one fixed NaN: devices differ in the bits of the NaNs that arithmetic produces.
KOLMO_HD constexpr double one_nan(double x) { return x == x ? x : std::numeric_limits<double>::quiet_NaN(); }

/// N sums computed side by side.
template <int N>
struct Sums {
  double value[N];

  friend KOLMO_HD constexpr Sums operator+(const Sums& a, const Sums& b) {
    Sums s{};
    for (int i = 0; i < N; ++i) s.value[i] = exact_add(a.value[i], b.value[i]);
    return s;
  }
};

/// Sum of terms(0) ... terms(n - 1), each a Sums<N>. Lanes without terms are skipped: adding 0 would not
/// change the sum.
template <int N, class Terms>
Sums<N> lane_sum(const Terms& terms, std::int64_t n) {
  const std::int64_t lanes = n < sum_lanes ? std::int64_t(std::bit_ceil(std::uint64_t(n))) : sum_lanes;
  Sums<N> lane[sum_lanes];
  std::fill_n(lane, lanes, Sums<N>{});
  for (std::int64_t first = 0; first < n; first += lanes)
    for (std::int64_t l = 0, end = std::min(lanes, n - first); l < end; ++l)
      lane[l] = lane[l] + terms(first + l);
  for (std::int64_t half = lanes / 2; half; half /= 2)
    for (std::int64_t l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
  return lane[0];
}

constexpr std::int64_t sum_chunks(std::int64_t k) {
  return k <= sum_chunk ? 1 : (k + sum_chunk - 1) / sum_chunk;
}

// A job is a number of independent sums ("items"): terms(item) returns the terms and their `count`, finish(item, sums)
// stores the result. The CPU and kernels run the same jobs.

/// The chunks of rows of k terms. `rows(r)(i)` is term i of row r; `done(r, sums)` stores the sums of a row.
template <int N, class Rows, class Done>
struct ChunkSums {
  static constexpr int sums = N;
  Rows rows;
  Done done;
  std::int64_t k, chunks;
  Sums<N>* partial;

  struct Terms {
    decltype(std::declval<Rows>()(0)) row;
    std::int64_t first, count;
    KOLMO_HD Sums<N> operator()(std::int64_t i) const { return row(first + i); }
    /// Reads what term i is computed from; row.of() then computes the term. Only rows whose terms take long
    /// have this, so that several reads are under way during the computation.
    KOLMO_HD auto fetch(std::int64_t i) const requires requires { row.fetch(i); }
    { return row.fetch(first + i); }
    /// Loads W terms from term i on. Only rows that provide such a load have this.
    template <int W>
    KOLMO_HD void load(std::int64_t i, Sums<N> (&terms)[W]) const {
      row.load(first + i, terms);
    }
  };
  KOLMO_HD Terms terms(std::int64_t item) const {
    const std::int64_t row = chunks == 1     ? item
                             : item < chunks ? 0
                                             : quotient(item, chunks),
                       first = (item - row * chunks) * sum_chunk, rest = k - first;
    return {rows(row), first, rest < sum_chunk ? rest : sum_chunk};
  }
  KOLMO_HD void finish(std::int64_t item, const Sums<N>& s) const {
    if (chunks == 1)
      done(item, s);
    else
      partial[item] = s;
  }
};

/// Adds the sums of the chunks of each row.
template <int N, class Done>
struct PartialSums {
  static constexpr int sums = N;
  const Sums<N>* partial;
  Done done;
  std::int64_t chunks;

  struct Terms {
    const Sums<N>* partial;
    std::int64_t count;
    KOLMO_HD Sums<N> operator()(std::int64_t i) const { return partial[i]; }
  };
  KOLMO_HD Terms terms(std::int64_t row) const { return {partial + row * chunks, chunks}; }
  KOLMO_HD void finish(std::int64_t row, const Sums<N>& s) const { done(row, s); }
};

/// Sums over each of `count` rows of k terms. Calls run(job, items, terms of the longest sum) once or, for
/// long rows, twice. `partial` is the result of take_partial_sums<N>(arena, count, k).
template <int N, class Rows, class Done, class Run>
void sum_rows(const Rows& rows, const Done& done, std::int64_t count, std::int64_t k, Sums<N>* partial,
              const Run& run) {
  const std::int64_t chunks = sum_chunks(k);
  run(ChunkSums<N, Rows, Done>{rows, done, k, chunks, partial}, count * chunks, std::min(k, sum_chunk));
  if (chunks > 1) run(PartialSums<N, Done>{partial, done, chunks}, count, chunks);
}
template <int N>
Sums<N>* take_partial_sums(Arena& arena, std::int64_t count, std::int64_t k) {
  return arena.take<Sums<N>>(sum_chunks(k) == 1 ? 0 : count * sum_chunks(k));
}

}  // namespace kolmo
