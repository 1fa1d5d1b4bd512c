#pragma once
#include <string>
#include <vector>

#include "kolmo/check/placement.hpp"
#include "kolmo/op/registry.hpp"

namespace kolmo::check {

/// Says whether a configuration of an operator computes what it should, before a tuner may choose it. It must
/// agree with the oracle in every case of the problem's dtype that it fits and that is not too large for the
/// oracle; and on the problem itself with the default configuration, within twice the largest tolerance of
/// these cases, since both may be off. Oracle results are computed once.
class Verifier {
 public:
  Verifier(const OpBase& op, const Problem& problem, Stream& stream);

  /// "exact" when the problem's results have the default's bits, else "within tolerance". Throws Error,
  /// naming case and element, when they are wrong.
  std::string operator()(const RunOptions& options);

 private:
  struct Known {
    Problem problem;
    HostTensors want;
  };
  HostTensors outputs(const Problem& problem, const RunOptions& options);

  const OpBase& op_;
  const Problem& problem_;
  Stream& stream_;
  std::vector<Known> cases_;
  HostTensors by_default_, by_default_wide_;
  double tolerance_ = 0;
};

}  // namespace kolmo::check
