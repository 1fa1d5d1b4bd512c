#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kolmo/check/recalled.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/tune/call.hpp"
#include "kolmo/tune/store.hpp"

namespace kolmo::cli {

/// A problem to tune an operator with.
class TuneProblem {
 public:
  /// One of the operator's cases, with sizes at the upper edges of their buckets, so that one configuration
  /// serves every smaller size in the bucket. Keeps the case's own sizes if the operator refuses the edges.
  TuneProblem(const OpBase& op, std::size_t index);
  /// Makes a call like one that had no configuration. Throws InvalidArgument if the operator refuses it.
  TuneProblem(const OpBase& op, const tune::Store::Miss& miss);

  const check::Problem& problem() const { return recalled_ ? recalled_->problem() : *problem_; }
  const std::string& name() const { return name_; }  ///< the name of the case, or the sizes

 private:
  bool make(const OpBase& op, CaseInfo info, std::size_t index,
            const std::vector<std::pair<std::string, std::int64_t>>& sizes);

  std::string name_;
  std::vector<std::string> size_names_;
  std::vector<CaseSize> sizes_;
  std::optional<check::Problem> problem_;
  std::unique_ptr<check::Recalled> recalled_;
};

}  // namespace kolmo::cli
