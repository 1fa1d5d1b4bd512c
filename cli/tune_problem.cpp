#include "cli/tune_problem.hpp"

#include <algorithm>

#include "kolmo/op/bind.hpp"

namespace kolmo::cli {
namespace {

/// The key of a problem, without the parts that depend on the stream and the build.
tune::Key key_of(const check::Problem& problem) {
  const tune::CallReader reader(problem.op());
  return reader.key(reader.read(problem.args(), 0), "");
}

/// The sizes of a key that occur in the shapes of inputs. A case can set only these.
std::vector<std::pair<std::string, std::int64_t>> input_sizes(const OpBase& op, const tune::Key& key) {
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  for (const tune::Key::Dim& d : key.dims)
    for (const FieldInfo& f : op.fields()) {
      if (!f.is_tensor() || !f.is_input()) continue;
      if (!f.shape.has(d.name)) continue;
      sizes.emplace_back(d.name, d.bucket.high);
      break;
    }
  return sizes;
}

}  // namespace

bool TuneProblem::make(const OpBase& op, CaseInfo info, std::size_t index,
                       const std::vector<std::pair<std::string, std::int64_t>>& sizes) {
  size_names_.clear(), sizes_.clear();
  for (const auto& [name, size] : sizes) size_names_.push_back(name);
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes_.push_back({size_names_[i], sizes[i].second});
  info.sizes = sizes_;
  try {
    problem_.emplace(op, info, index);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

TuneProblem::TuneProblem(const OpBase& op, std::size_t index) : name_(op.cases()[index].name) {
  const CaseInfo info = op.cases()[index];
  problem_.emplace(op, info, index);
  const tune::Key key = key_of(*problem_);
  const auto given = [&](const auto& size) {
    return std::any_of(info.sizes.begin(), info.sizes.end(),
                       [&](const CaseSize& s) { return s.name == size.first; });
  };
  const auto at_edge = [&](const CaseSize& s) { return s.size == tune::bucket_edge(s.size); };
  if (std::all_of(info.sizes.begin(), info.sizes.end(), at_edge)) return;
  auto sizes = input_sizes(op, key);
  // "..." in a shape may stand for no dimension, so that a size of the key need not be one of the case.
  std::erase_if(sizes, [&](const auto& s) { return !given(s); });
  if (!make(op, info, index, sizes) || key_of(*problem_) != key) problem_.emplace(op, info, index);
}

TuneProblem::TuneProblem(const OpBase& op, const tune::Store::Miss& miss) {
  recalled_ = std::make_unique<check::Recalled>(op, miss.call);
  name_ = problem().info().name;
  // The recalled call must have the same key. A call whose memory had another layout may have another key.
  tune::Key wanted = miss.key;
  wanted.kernel_hash.clear(), wanted.extras.erase("threads");
  if (key_of(problem()) != wanted)
    fail<InvalidArgument>(std::string(op.name) + ": no call like " + name_ + " can be made up");
}

}  // namespace kolmo::cli
