#pragma once
#include <span>
#include <string>

#include "kolmo/flow/estimate/estimate.hpp"
#include "kolmo/flow/test/selection.hpp"

namespace kolmo {

/// What a test has drawn: the observed values of all alternatives of its tasks, their analytic p-values if there are, and
/// the surrogates of each, or of the largest of them.
struct Drawn {
  std::vector<double> observed, analytic;
  SurrogateRows surrogates;
  std::int64_t draws = 0;  ///< the observed data included
  bool exhausted = false;  ///< there are no more different surrogates

  /// `largest`: the surrogates are reduced to the largest of each draw.
  static Drawn of(std::span<const Estimates> tasks, bool largest);
  /// Draws that follow.
  void append(Drawn part);

  /// As text for a checkpoint; doubles read back as the same bits. Throws InvalidArgument for a text that is no such record.
  std::string record() const;
  static Drawn from_record(const std::string& text);
};

}  // namespace kolmo
