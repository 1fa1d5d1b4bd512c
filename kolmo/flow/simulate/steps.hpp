#pragma once
#include <vector>

#include "kolmo/flow/simulate/simulate.hpp"

namespace kolmo::detail {

/// The links into each variable, by target.
using Incoming = std::vector<std::vector<TrueLink>>;

/// Streams of random numbers, derived from one seed: one for each thing that is drawn.
enum Draws : std::uint32_t { topology, lags, strengths, own, start, noise };

/// The first `length` samples of a map (coupled_logistic, var, henon) or of a flow (kuramoto, lorenz), as
/// values[i][t].
std::vector<std::vector<double>> run_map(const System& system, std::size_t length);
std::vector<std::vector<double>> run_flow(const System& system, std::size_t length);

Incoming incoming_links(const System& system);

}  // namespace kolmo::detail
