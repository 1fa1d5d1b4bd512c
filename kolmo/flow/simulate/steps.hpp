#pragma once
#include <vector>

#include "kolmo/flow/simulate/simulate.hpp"

namespace kolmo::detail {

/// The links into each variable.
using Incoming = std::vector<std::vector<TrueLink>>;

/// Streams of random numbers derived from one seed.
enum Draws : std::uint32_t { topology, lags, strengths, own, start, noise };

/// values[i][t] of the first `length` samples of a map (coupled_logistic, var, henon) or of a flow (kuramoto,
/// lorenz).
std::vector<std::vector<double>> run_map(const System& system, std::size_t length);
std::vector<std::vector<double>> run_flow(const System& system, std::size_t length);

Incoming incoming_links(const System& system);

}  // namespace kolmo::detail
