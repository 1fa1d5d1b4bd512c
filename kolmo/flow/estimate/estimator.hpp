#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace kolmo {

/// Says how information is estimated from rows:
///   ksg        nearest neighbours, for continuous values (Kraskov et al. 2004)
///   gaussian   covariances, for linear relations between continuous values (gaussian.hpp)
///   discrete   frequencies, for columns with few different values (discrete.hpp)
///   ordinal    frequencies of ordinal patterns; the series holds patterns already (ordinal.hpp)
/// Only ksg runs on a GPU.
enum class Estimator : std::int32_t { ksg, gaussian, discrete, ordinal };
inline constexpr std::string_view estimator_names[] = {"ksg", "gaussian", "discrete", "ordinal"};
constexpr std::span<const std::string_view> names_of(Estimator) { return estimator_names; }

/// Correction of the bias of plug-in entropies: none, or (K - 1) / (2 N) with K the number of states seen
/// (Miller 1955).
enum class Bias : std::int32_t { none, miller_madow };
inline constexpr std::string_view bias_names[] = {"none", "miller-madow"};
constexpr std::span<const std::string_view> names_of(Bias) { return bias_names; }

}  // namespace kolmo
