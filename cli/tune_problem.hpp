#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kolmo/check/problem.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/tune/call.hpp"

namespace kolmo::cli {

/// A problem to tune an operator with, whose sizes are the upper edges of their buckets: one configuration
/// then serves every smaller size of the bucket.
class TuneProblem {
 public:
  /// One of the operator's cases. At the case's own sizes where the operator refuses the edges.
  TuneProblem(const OpBase& op, std::size_t index);
  /// A call that was seen and had no configuration. Throws InvalidArgument where no such call can be made up.
  TuneProblem(const OpBase& op, const tune::Key& key);

  const check::Problem& problem() const { return *problem_; }
  const std::string& name() const { return name_; }  ///< of the case, or the sizes

 private:
  bool make(const OpBase& op, CaseInfo info, std::size_t index,
            const std::vector<std::pair<std::string, std::int64_t>>& sizes);

  std::string name_, optional_;
  std::vector<std::string> size_names_;
  std::vector<CaseSize> sizes_;
  std::optional<check::Problem> problem_;
};

}  // namespace kolmo::cli
