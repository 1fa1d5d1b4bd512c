#pragma once
#include <cstdint>
#include <vector>

#include "kolmo/flow/data/series.hpp"
#include "kolmo/flow/surrogate/fourier.hpp"
#include "kolmo/flow/surrogate/surrogate_kind.hpp"

namespace kolmo {

/// Surrogates come in parts: those with the numbers first ... first + count - 1. A surrogate depends on its number, its
/// stream and the seed alone, and number 0 is the observed data.
struct SurrogateRange {
  std::int64_t first = 0, count = 0;

  bool observed() const { return first == 0 && count > 0; }
  /// How many of them are no observed data.
  std::int64_t surrogates() const { return count - observed(); }
};

/// Surrogates of some variables of a series by a spectral method. Random numbers are addressed by seed, stream, number
/// of the surrogate and place, so that nothing depends on what else is computed.
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
