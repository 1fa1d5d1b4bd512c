#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kolmo/flow/data/series.hpp"
#include "kolmo/flow/surrogate/fourier.hpp"
#include "kolmo/knn/surrogate.hpp"

namespace kolmo {

/// Says how a surrogate of x is made. All methods but phase keep x's distribution; those that keep its autocorrelation too
/// give valid tests of autocorrelated series.
///   circular, permute, block    rearrange the embedded rows; see SurrogateType. All sets are one sequence of rows
///   trials                      gives each trial the embedded rows of x of a random trial
///   phase      each set keeps the amplitudes of its Fourier transform and gets random phases, the same in all columns of x.
///              Source: Theiler et al., Physica D 58, 77 (1992)
///   iaaft      each set has its values in an order with nearly the same Fourier amplitudes; x has one column. Source:
///              Schreiber, Schmitz, Phys. Rev. Lett. 77, 635 (1996)
enum class SurrogateMethod : std::int32_t { circular, permute, block, trials, phase, iaaft };
inline constexpr std::string_view surrogate_method_names[] = {"circular", "permute", "block",
                                                              "trials",   "phase",   "iaaft"};
constexpr std::span<const std::string_view> names_of(SurrogateMethod) { return surrogate_method_names; }

/// Surrogates come in parts: those with the numbers first ... first + count - 1. A surrogate depends on its number, its
/// stream and the seed alone, and number 0 is the observed data.
struct SurrogateRange {
  std::int64_t first = 0, count = 0;

  bool observed() const { return first == 0 && count > 0; }
  /// How many of them are no observed data.
  std::int64_t surrogates() const { return count - observed(); }
};

/// Whether a method makes new values instead of rearranging embedded rows.
constexpr bool is_spectral(SurrogateMethod m) {
  return m == SurrogateMethod::phase || m == SurrogateMethod::iaaft;
}
/// The rearrangement of embedded rows that a method makes. Throws InvalidArgument for a spectral method.
SurrogateType rearrangement(SurrogateMethod method);

/// Surrogates of some variables of a series by a spectral method. Seed, stream, number of the surrogate and
/// place address the random numbers, so that nothing depends on what else is computed.
class SpectralSurrogates {
 public:
  SpectralSurrogates(const Series& series, std::vector<std::int32_t> variables, SurrogateMethod method,
                     std::uint64_t seed);

  /// The series with surrogate values of the chosen variables; other variables have no values.
  Series make(std::int64_t stream, std::int64_t number) const;

 private:
  struct Part {  // one variable in one set
    std::vector<double> values, sorted, amplitudes;
    std::vector<Fourier::Value> spectrum;
  };
  struct Set {
    std::size_t first = 0;  // row
    Fourier fourier;
    std::vector<Part> parts;  // by variable
  };
  std::vector<double> phase_randomized(const Set& set, const Part& part, std::uint64_t counter,
                                       std::int64_t stream) const;
  std::vector<double> iaaft(const Set& set, const Part& part, std::uint64_t counter,
                            std::int64_t stream) const;

  Series empty_;  // the series without values
  std::vector<std::int32_t> variables_;
  SurrogateMethod method_;
  std::uint64_t seed_;
  std::vector<Set> sets_;
};

}  // namespace kolmo
