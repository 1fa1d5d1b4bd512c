#pragma once
#include <string>

#include "kolmo/check/problem.hpp"

namespace kolmo::check {

/// The outcome of comparing an operator's outputs; `message` is empty when they agree.
struct Comparison {
  std::string message;
  double max_error = 0;  ///< largest |got - want| / max(1, |want|) of the floating outputs
};

/// Every output within `tolerance` of `want`, whose floating tensors are f64; NaN matches NaN only, and
/// integers must be equal. An element that still holds the poison NaN was not written.
Comparison compare(const OpBase& op, const HostTensors& got, const HostTensors& want, double tolerance);

/// Copies with floating tensors as f64, to compare with.
HostTensors widened(const HostTensors& tensors);

/// Names the first element whose bits differ; empty when there is none.
std::string bit_difference(const OpBase& op, const HostTensors& got, const HostTensors& want);

}  // namespace kolmo::check
