#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/predict/record/training_log.hpp"

namespace kolmo::predict {

/// The shape in which the rate falls in a decay, as a function of the share u of its length that has passed: 1 - u, 1 - sqrt(u), (1 + cos(pi u)) / 2.
enum class DecayShape : std::int32_t { linear, sqrt, cosine };
inline constexpr std::string_view decay_shapes[] = {"linear", "sqrt", "cosine"};

/// The learning rates of the steps to come.
struct Plan {
  enum class Kind : std::int32_t {
    hold,   ///< the last rate
    decay,  ///< the last rate up to step `at`; then it falls to 0 within `length` steps, and stays 0
    cosine,  ///< (1 + cos(pi t / at)) / 2 up to step `at`, scaled such that it goes on from the last rate; then 0
    rates,  ///< a rate for each step
  };

  Kind kind = Kind::hold;
  std::int64_t at = 0;      ///< a step; 0: the last one of the log
  std::int64_t length = 0;  ///< steps
  DecayShape shape = DecayShape::linear;
  std::vector<double> values{};  ///< of `rates`: the first is that of step `first`; the last one stays
  std::int64_t first = 0;        ///< 0: the step after the last one of the log

  static Plan hold() { return {}; }
  static Plan decay(std::int64_t at, std::int64_t length, DecayShape shape = DecayShape::linear) {
    return {Kind::decay, at, length, shape};
  }
  static Plan cosine(std::int64_t end) { return {Kind::cosine, end}; }
  static Plan rates(std::vector<double> values, std::int64_t first = 0) {
    Plan plan{Kind::rates};
    plan.values = std::move(values), plan.first = first;
    return plan;
  }

  /// The rates of the `steps` steps after `last`, whose rate is `rate`. Throws InvalidArgument for what cannot be: a decay that has
  /// begun before, a cosine that has ended, no rates or negative ones.
  std::vector<double> after(std::int64_t last, double rate, std::int64_t steps) const;
  /// Returns the plan in the form that parse() reads.
  std::string text() const;
  /// Reads "hold", "decay@AT:LENGTH", "decay@AT:LENGTH:SHAPE", AT a step or "now", "cosine@END". Throws InvalidArgument otherwise.
  static Plan parse(std::string_view text);
};

/// The planned rates in the blocks that come after those of the log.
RateBlocks planned_blocks(const TrainingLog& log, const Plan& plan, std::size_t blocks);

}  // namespace kolmo::predict
