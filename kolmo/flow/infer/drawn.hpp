#pragma once
#include <span>
#include <string>

#include "kolmo/flow/estimate/estimate.hpp"
#include "kolmo/flow/test/selection.hpp"

namespace kolmo {

/// Holds what a test has estimated so far: the observed values of all alternatives of its tasks, their analytic p-values if
/// there are some, and the values of the surrogates of each alternative, or only the largest of each surrogate.
struct Drawn {
  std::vector<double> observed, analytic;
  SurrogateRows surrogates;
  std::int64_t draws = 0;  ///< the observed data included
  bool exhausted = false;  ///< there are no more different surrogates

  /// `largest`: the surrogates are reduced to the largest of each draw.
  static Drawn of(std::span<const Estimates> tasks, bool largest);
  /// Draws that follow.
  void append(Drawn part);

  /// Writes it as text for a checkpoint. Doubles read back as the same bits.
  std::string record() const;
  /// Throws InvalidArgument for a text that record() did not write.
  static Drawn from_record(const std::string& text);
};

}  // namespace kolmo
