#pragma once
#include <functional>
#include <string>
#include <vector>

#include "kolmo/check/placement.hpp"
#include "kolmo/op/registry.hpp"

namespace kolmo::check {

/// The cases of an operator in one dtype that are not too large for its oracle, whose results are computed
/// once. Throws Unsupported when there are none.
class OracleCases {
 public:
  OracleCases(const OpBase& op, DType dtype, const Stream& stream);

  /// Throws Error, naming case and element, when a configuration does not agree with the oracle in a case
  /// that it fits.
  void expect_agreement(const RunOptions& options);
  double largest_tolerance() const;

 private:
  struct Known {
    Problem problem;
    HostTensors want;
  };
  const OpBase& op_;
  Stream stream_;
  std::vector<Known> cases_;
};

/// Says whether a configuration of an operator computes what it should, before a tuner may choose it. It must
/// agree with the oracle in the cases of the problem's dtype; and on the problem itself with the default
/// configuration, within twice the largest tolerance of these cases, since both may be off.
class Verifier {
 public:
  Verifier(const OpBase& op, const Problem& problem, Stream& stream);

  /// "exact" when the problem's results have the default's bits, else "within tolerance". Throws Error,
  /// naming case and element, when they are wrong.
  std::string operator()(const RunOptions& options);

 private:
  const OpBase& op_;
  const Problem& problem_;
  Stream stream_;
  OracleCases cases_;
  HostTensors by_default_, by_default_wide_;
};

/// For tune::CallOptions::verify: a candidate must agree with the operator's oracle in the cases of the
/// call's dtype, which run on this stream.
std::function<std::string(const OpBase& op, const void* args, const RunOptions&)> by_oracle(
    const Stream& stream);

}  // namespace kolmo::check
