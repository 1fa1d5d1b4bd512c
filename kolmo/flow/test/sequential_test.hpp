#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kolmo/flow/surrogate/surrogates.hpp"
#include "kolmo/flow/test/statistics.hpp"

namespace kolmo {

/// Sets how many surrogates a test gets. They come in parts, each half as large again as the one before it, and a test ends at its
/// h-th exceedance: the h-th surrogate that reaches the observed value.
struct StoppingRule {
  std::int64_t exceedances = 0;  ///< h; 0: a test gets all surrogates, in one part
  std::int64_t most = 0;         ///< surrogates of a test

  /// Whether a test may end early. Where all surrogates fit into the first part, nothing is gained by that.
  bool sequential() const { return exceedances > 0 && most > first_part(); }
  std::int64_t first_part() const { return 5 * exceedances; }
  /// The first part, which begins with the observed data, and the part after another one; no draws if there is none.
  SurrogateRange first() const;
  SurrogateRange after(SurrogateRange part) const;
};

/// A test by surrogates that ends early. The p-value is (1 + c) / (1 + S) of the S surrogates before the one that ended the test, of
/// which c reached the observed value: h / l if the l-th was the h-th. It does not depend on the parts.
/// Source: Besag, Clifford, Biometrika 78, 301 (1991).
class SequentialTest {
 public:
  struct State {
    std::int64_t exceedances = 0, surrogates = 0;  ///< c and S
    bool open = true;
  };
  /// If the rule is sequential, describe() describes the first so many at most.
  static constexpr std::size_t most_described = 1000;

  SequentialTest(double observed, StoppingRule rule) : observed_(observed), rule_(rule) {}

  /// Takes the next surrogates; those after the end are left out. `all` are the surrogates that there are.
  void take(std::span<const double> surrogates, std::int64_t all);
  bool open() const { return state_.open; }
  const State& state() const { return state_; }
  double p_value(PValue convention) const;
  Summary describe() const { return summarize(kept_); }

  /// The values that describe() describes, from the given one on.
  std::span<const double> kept(std::size_t first = 0) const {
    return std::span(kept_).subspan(std::min(first, kept_.size()));
  }
  /// Brings a test to where another one was: its state, and the values that it kept since.
  void resume(const State& state, std::span<const double> kept);

 private:
  double observed_;
  StoppingRule rule_;
  State state_;
  std::vector<double> kept_;
};

/// Whether further surrogates would hardly change which tests are significant: the adjusted p-value of each open test is at most half
/// of alpha. At the full level the share of false discoveries would exceed alpha, as tests would end where they are
/// lucky (docs/surrogates.md).
bool may_stop(std::span<const double> p, const std::vector<bool>& open, Correction correction, double alpha);

}  // namespace kolmo
