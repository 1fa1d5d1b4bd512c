#pragma once
#include <string>

#include "kolmo/check/problem.hpp"

namespace kolmo::check {

/// The outcome of comparing an operator's outputs; `message` is empty when they agree.
struct Comparison {
  std::string message;
  double max_error = 0;  ///< largest |got - want| over the tolerance; infinite if the tolerance is 0
  /// How many right numbers are finite; for an oracle that judges, how many it judged.
  std::int64_t finite = 0;
};

/// Compares every output with `want`, within `factor` times the case's tolerance. Floating tensors of `want`
/// are f64, complex ones c128. NaN matches NaN only, and integers must be equal. Complex numbers are compared
/// by real and imaginary part, each within the tolerance for the modulus. An element that still holds the
/// poison NaN counts as not written. Elements beyond an output's counter are not compared.
Comparison compare(const OpBase& op, const HostTensors& got, const HostTensors& want,
                   const CaseInfo& tolerances, double factor = 1);

/// The correct outputs of a problem: those its oracle predicts, or any that its oracle accepts.
class Truth {
 public:
  Truth(const OracleBase& oracle, const Problem& problem)
      : oracle_(&oracle), want_(expected(oracle, problem)) {}
  /// `problem` must be the one that this object was constructed from. A judging oracle ignores `factor`.
  Comparison compare(const Problem& problem, const HostTensors& got, double factor = 1) const;

 private:
  const OracleBase* oracle_;
  HostTensors want_;
};

/// Copies tensors for comparison: floating ones as f64, complex ones as c128.
HostTensors widened(const HostTensors& tensors);

/// The tolerance of an output in a case.
Tolerance tolerance_of(const CaseInfo& info, std::string_view output);

/// Names the first element whose bits differ; empty if there is none.
std::string bit_difference(const OpBase& op, const HostTensors& got, const HostTensors& want);

/// Whether element i of output f is reported as written by the operator, that is, lies within its counter.
bool counted(const OpBase& op, const HostTensors& outputs, std::size_t f, std::int64_t i);

/// Names an element of a tensor: "value(0, 3)".
std::string place(std::string_view name, const Tensor& t, std::int64_t i);

}  // namespace kolmo::check
