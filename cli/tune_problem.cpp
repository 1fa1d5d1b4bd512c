#include "cli/tune_problem.hpp"

#include <algorithm>

#include "kolmo/op/shape.hpp"

namespace kolmo::cli {
namespace {

/// The key of a problem, apart from what depends on the stream and the build.
tune::Key key_of(const check::Problem& problem) {
  const tune::CallReader reader(problem.op());
  return reader.key(reader.read(problem.args(), 0), "");
}

/// Only names that the shapes of inputs have can be given to a case.
std::vector<std::pair<std::string, std::int64_t>> input_sizes(const OpBase& op, const tune::Key& key) {
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  for (const tune::Key::Dim& d : key.dims)
    for (const FieldInfo& f : op.fields()) {
      if (!f.is_tensor() || !f.is_input()) continue;
      const auto names = words(f.shape);
      if (std::find(names.begin(), names.end(), d.name) == names.end()) continue;
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
  std::erase_if(sizes, [&](const auto& s) { return !given(s); });  // "..." may stand for no dimension at all
  if (!make(op, info, index, sizes) || key_of(*problem_) != key) problem_.emplace(op, info, index);
}

TuneProblem::TuneProblem(const OpBase& op, const tune::Key& key) {
  const auto extra = [&](const std::string& name) {
    const auto found = key.extras.find(name);
    return found == key.extras.end() ? std::string() : found->second;
  };
  CaseInfo info = op.cases().at(0);
  for (const DType t : all_dtypes)
    if (to_string(t) == key.dtype) info.dtype = t;
  for (const FieldInfo& f : op.fields())
    if (extra("given " + std::string(f.name)) == "true")
      optional_ += (optional_.empty() ? "" : " ") + std::string(f.name);
  for (const tune::Key::Dim& d : key.dims)
    name_ += (name_.empty() ? "" : " ") + d.name + "=" + std::to_string(d.bucket.high);
  info.optional = optional_, info.name = name_;
  const tune::CallReader reader(op);
  const auto wanted = reader.numbers(key);
  const auto sizes = input_sizes(op, key);
  for (std::size_t i = 0; wanted && i < op.cases().size();
       ++i) {  // a case's setup makes inputs that make sense
    info.alias = op.cases()[i].alias;
    if (!make(op, info, i, sizes)) continue;
    try {
      problem_->set_options([&](void* args) { reader.set_options(*wanted, args); });
    } catch (const InvalidArgument&) {
      continue;
    }
    const tune::Key made = key_of(*problem_);
    if (made.dims == key.dims && made.dtype == key.dtype) return;
  }
  fail<InvalidArgument>(std::string(op.name) + ": no call with " + name_ + " can be made up");
}

}  // namespace kolmo::cli
