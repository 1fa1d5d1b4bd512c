#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kolmo/flow/series.hpp"

namespace kolmo {

/// One number of an embedded row: the value of `variable`, `lag` rows before the row's time.
struct Coordinate {
  std::int32_t variable = 0;
  std::int64_t lag = 0;
};
using Coordinates = std::vector<Coordinate>;

/// How many past values stand for a state, and the rows between them.
struct Embedding {
  std::int64_t history = 1, tau = 1;
};

/// The values lag, lag + tau, ... rows back: `embedding.history` of them.
Coordinates past(std::int32_t variable, const Embedding& embedding, std::int64_t lag = 1);

/// The largest lag.
std::int64_t reach(const Coordinates& coordinates);

/// Times t, in order, for which all rows t - reach ... t lie in one observation set.
std::vector<std::int64_t> embeddable(const Series& series, std::int64_t reach);

/// What `embed` takes off a coordinate at the given times, and divides it by.
Scaling embedded_scaling(const Series& series, Coordinate coordinate, std::span<const std::int64_t> times);

/// A coordinate at the given times, standardised over them if the series asks for `columns`, with its noise.
/// Element i goes to out[i * stride].
void embed(const Series& series, Coordinate coordinate, std::span<const std::int64_t> times, double* out,
           std::int64_t stride);

}  // namespace kolmo
