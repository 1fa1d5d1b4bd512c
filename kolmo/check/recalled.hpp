#pragma once
#include <optional>

#include "kolmo/check/problem.hpp"
#include "kolmo/op/call_shape.hpp"

namespace kolmo::check {

/// A call like an earlier one, with random inputs of their domains: the same sizes, dtypes, options and
/// optional tensors; "..." is one dimension. Throws InvalidArgument if the operator refuses that.
class Recalled {
 public:
  Recalled(const OpBase& op, CallShape call);
  Recalled(const Recalled&) = delete;

  const Problem& problem() const { return *problem_; }

 private:
  CallShape call_;
  std::string name_, given_;
  std::vector<CaseSize> sizes_;
  std::vector<CaseDType> dtypes_;
  std::optional<Problem> problem_;
};

}  // namespace kolmo::check
