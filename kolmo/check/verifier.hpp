#pragma once
#include <functional>
#include <string>
#include <vector>

#include "kolmo/check/compare.hpp"
#include "kolmo/check/placement.hpp"
#include "kolmo/op/registry.hpp"

namespace kolmo::check {

/// The cases of an operator in one dtype that are small enough for its oracle, whose results are computed
/// once. Throws Unsupported if there are none.
class OracleCases {
 public:
  OracleCases(const OpBase& op, DType dtype, const Stream& stream);

  /// Throws Error, naming case and element, if a configuration disagrees with the oracle in a case that it
  /// fits.
  void expect_agreement(const RunOptions& options);
  /// The largest tolerance of these cases, for each output.
  std::vector<OutputTolerance> widest() const;

 private:
  struct Known {
    Problem problem;
    Truth truth;
  };
  const OpBase& op_;
  Stream stream_;
  std::vector<Known> cases_;
};

/// Checks the results of a configuration of an operator before a tuner may choose it. They must agree with
/// the oracle in the cases of the problem's dtype. On the problem itself they must agree with the default
/// configuration, within twice the largest tolerance of these cases, since both may be off; or be accepted by
/// the oracle, if it judges.
class Verifier {
 public:
  Verifier(const OpBase& op, const Problem& problem, Stream& stream);

  /// Returns "exact" if the problem's results have the bits of the default configuration, else "within
  /// tolerance". Throws Error, naming case and element, if they are wrong.
  std::string operator()(const RunOptions& options);

 private:
  const OpBase& op_;
  const Problem& problem_;
  Stream stream_;
  OracleCases cases_;
  HostTensors by_default_, by_default_wide_;
};

/// Makes a function for tune::CallOptions::verify: a candidate must agree with the operator's oracle in the
/// cases of the call's dtype, which run on this stream.
std::function<std::string(const OpBase& op, const void* args, const RunOptions&)> by_oracle(
    const Stream& stream);

}  // namespace kolmo::check
