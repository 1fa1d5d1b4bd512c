#pragma once
#include <cstdint>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// How many past values a state has, and the number of steps between them.
struct Embedding {
  std::int64_t history = 1, tau = 1;

  /// Lag of value i of a state whose newest value is at `lag`.
  KOLMO_HD constexpr std::int64_t back(std::int64_t i, std::int64_t lag) const { return lag + i * tau; }
  /// Lag of the oldest value of such a state.
  KOLMO_HD constexpr std::int64_t reach(std::int64_t lag) const { return back(history - 1, lag); }
};

/// Embeds one time: row[c] = value(c, time - lag(c)) for every column c.
template <class T, class Lag, class Value>
KOLMO_HD void embed_row(T* row, std::int64_t columns, std::int64_t time, const Lag& lag, const Value& value) {
  for (std::int64_t c = 0; c < columns; ++c) row[c] = T(value(c, time - lag(c)));
}

/// Transfer entropy is I(x;y|z) with y the target's current value and x the source's past. z is the target's
/// past, followed by `given` further series at lag 1.
struct TransferEntropyEmbedding {
  Embedding target, source;
  std::int64_t lag = 1, given = 0;

  KOLMO_HD constexpr std::int64_t x_columns() const { return source.history; }
  KOLMO_HD constexpr std::int64_t z_columns() const { return target.history + given; }
  KOLMO_HD constexpr std::int64_t x_lag(std::int64_t column) const { return source.back(column, lag); }
  KOLMO_HD constexpr std::int64_t z_lag(std::int64_t column) const {
    return column < target.history ? target.back(column, 1) : 1;
  }
  /// Number of the given series in a column of z; negative for the target's own columns.
  KOLMO_HD constexpr std::int64_t given_of(std::int64_t column) const { return column - target.history; }
  /// The largest lag that a row of the embedding uses.
  KOLMO_HD constexpr std::int64_t reach() const {
    const std::int64_t x = source.reach(lag), z = target.reach(1);
    return x > z ? x : z;
  }
};

}  // namespace kolmo
