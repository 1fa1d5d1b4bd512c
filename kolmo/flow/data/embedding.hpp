#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kolmo/flow/data/series.hpp"
#include "kolmo/knn/embedding.hpp"

namespace kolmo {

/// One number of an embedded row: the value of `variable`, `lag` rows before the row's time.
struct Coordinate {
  std::int32_t variable = 0;
  std::int64_t lag = 0;
};
using Coordinates = std::vector<Coordinate>;

/// The `embedding.history` past values of a variable, at the lags lag, lag + tau, ...
Coordinates past(std::int32_t variable, const Embedding& embedding, std::int64_t lag = 1);

/// The condition of a transfer entropy: the past of the target, and the given values.
Coordinates transfer_entropy_condition(std::int32_t target, const Embedding& target_past,
                                       const Coordinates& given);

/// The largest lag of the coordinates.
std::int64_t reach(const Coordinates& coordinates);

/// Whether all coordinates are of variables that never change.
bool are_constant(const Series& series, const Coordinates& coordinates);

/// The times t, in order, that count as the present, and for which all rows t - reach ... t lie in one observation set of the
/// variables.
std::vector<std::int64_t> embeddable(const Series& series, std::span<const std::int32_t> variables,
                                     std::int64_t reach);
/// Those of all variables.
std::vector<std::int64_t> embeddable(const Series& series, std::int64_t reach);

/// The variables of some coordinates, each once.
std::vector<std::int32_t> variables_of(std::span<const Coordinates> coordinates);

/// The mean that `embed` subtracts from a coordinate at the given times, and the deviation it divides by.
Scaling embedded_scaling(const Series& series, Coordinate coordinate, std::span<const std::int64_t> times);

/// Writes a row of coordinate values for each of the times, with the noise added. If the series uses
/// Standardize::columns, each coordinate is standardised over these times. T is double or float.
template <class T>
void embed(const Series& series, const Coordinates& coordinates, std::span<const std::int64_t> times,
           T* rows);

}  // namespace kolmo
