#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kolmo/knn/surrogate.hpp"

namespace kolmo {

/// How a surrogate of x is made. All methods but phase keep x's distribution; those that keep its autocorrelation too give
/// valid tests of autocorrelated series.
enum class SurrogateMethod : std::int32_t { circular, permute, block, trials, phase, iaaft };

/// The option that a method takes.
enum class SurrogateParameter : std::int32_t { none, min_shift, block_length };

/// A row holds all that is known of a method. Texts go into results, reports and messages.
struct SurrogateKind {
  SurrogateMethod method;
  std::string_view name;
  std::string_view how;  ///< x in a surrogate
  /// How the embedded rows of x are rearranged, where all sets are one sequence of rows; empty: each set gets new values,
  /// which are embedded then.
  std::optional<SurrogateType> rows;
  SurrogateParameter parameter;
  bool keeps_autocorrelation;
  bool of_one_column;           ///< x may have one column only
  std::string_view in_methods;  ///< clause of the methods paragraph; {} is the value of the parameter
  std::string_view in_report;   ///< clause that follows "surrogates"
  std::string_view reference;   ///< key of a reference besides Theiler et al. (1992); may be empty
};

/// The kinds are in the order of SurrogateMethod. Sources: Theiler et al., Physica D 58, 77 (1992) for phase; Schreiber, Schmitz, Phys.
/// Rev. Lett. 77, 635 (1996) for iaaft; SurrogateType for the others.
inline constexpr SurrogateKind surrogate_kinds[] = {
    {SurrogateMethod::circular, "circular",
     "the embedded rows of x, shifted around the end by at least `--min-shift` rows", SurrogateType::circular,
     SurrogateParameter::min_shift, true, false,
     "the source was shifted in time, around its end, by a random number of rows (Quian Quiroga et al. "
     "2002){}",
     "whose source is shifted in time, around the end, by a random amount", "quianquiroga2002"},
    {SurrogateMethod::permute, "permute", "the embedded rows of x in random order", SurrogateType::permute,
     SurrogateParameter::none, false, false, "the embedded rows of the source were randomly permuted",
     "whose source values are randomly permuted", ""},
    {SurrogateMethod::block, "block",
     "the embedded rows of x, shifted by a random distance, then cut into blocks of `--block-length` rows in "
     "random order",
     SurrogateType::block, SurrogateParameter::block_length, true, false,
     "the source was shuffled in blocks of {}", "whose source is shuffled in blocks", ""},
    {SurrogateMethod::trials, "trials",
     "in each trial the embedded rows of x from another, random trial; of trials of unequal lengths "
     "the ends are left out (warning `trials_cut`)",
     SurrogateType::trials, SurrogateParameter::none, true, false,
     "each trial had the source of a random trial", "in which each trial has the source of a random trial",
     ""},
    {SurrogateMethod::phase, "phase",
     "a series with the Fourier amplitudes of x and random phases, which are the same in all columns of x "
     "(Theiler et al. "
     "1992)",
     std::nullopt, SurrogateParameter::none, true, false,
     "the source had the amplitudes of its Fourier transform and random phases",
     "whose source is random with the same spectrum", ""},
    {SurrogateMethod::iaaft, "iaaft",
     "the values of x in an order that has nearly its Fourier amplitudes (Schreiber, Schmitz 1996); x is one "
     "column",
     std::nullopt, SurrogateParameter::none, true, true,
     "the source had its values in an order with nearly the same Fourier amplitudes (Schreiber and Schmitz "
     "1996)",
     "whose source is random with the same spectrum", "schreiber1996"},
};

constexpr const SurrogateKind& kind_of(SurrogateMethod m) { return surrogate_kinds[std::size_t(m)]; }

inline constexpr auto surrogate_method_names = [] {
  std::array<std::string_view, std::size(surrogate_kinds)> names;
  for (const SurrogateKind& kind : surrogate_kinds) names[std::size_t(kind.method)] = kind.name;
  return names;
}();

constexpr std::span<const std::string_view> names_of(SurrogateMethod) { return surrogate_method_names; }

/// Whether a method makes new values instead of rearranging embedded rows.
constexpr bool is_spectral(SurrogateMethod m) { return !kind_of(m).rows; }

}  // namespace kolmo
