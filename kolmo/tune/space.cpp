#include "kolmo/tune/space.hpp"

#include <algorithm>
#include <set>

#include "kolmo/base/error.hpp"

namespace kolmo::tune {

Space::Space(std::vector<Parameter> parameters, const std::function<bool(const Values&)>& feasible)
    : parameters_(std::move(parameters)) {
  for (const Parameter& p : parameters_) {
    require(!p.values.empty(), "tune: parameter '" + p.name + "' has no values");
    require(std::set(p.values.begin(), p.values.end()).size() == p.values.size(),
            "tune: parameter '" + p.name + "' has a value twice");
  }
  require(combinations() <= 1'000'000, "tune: a space has at most a million combinations");
  for (std::size_t id = 0; id < combinations(); ++id)
    if (!feasible || feasible(decode(id))) ids_.push_back(id);
  require(!ids_.empty(), "tune: no configuration is feasible");
}

std::size_t Space::combinations() const {
  std::size_t n = 1;
  for (const Parameter& p : parameters_) n = std::min<std::size_t>(n * p.values.size(), 2'000'000);
  return n;
}

Values Space::decode(std::size_t id) const {
  Values values(parameters_.size());
  for (std::size_t p = parameters_.size(); p-- > 0;) {
    const auto& all = parameters_[p].values;
    values[p] = all[id % all.size()];
    id /= all.size();
  }
  return values;
}

std::size_t Space::find(const Values& values) const {
  if (values.size() != parameters_.size()) return size();
  std::size_t id = 0;
  for (std::size_t p = 0; p < values.size(); ++p) {
    const auto& all = parameters_[p].values;
    const auto at = std::find(all.begin(), all.end(), values[p]);
    if (at == all.end()) return size();
    id = id * all.size() + std::size_t(at - all.begin());
  }
  const auto found = std::lower_bound(ids_.begin(), ids_.end(), id);
  return found != ids_.end() && *found == id ? std::size_t(found - ids_.begin()) : size();
}

std::vector<std::size_t> Space::neighbours(std::size_t config) const {
  std::vector<std::size_t> all;
  const Values here = values(config);
  for (std::size_t p = 0; p < here.size(); ++p) {
    const auto& range = parameters_[p].values;
    const auto at = std::find(range.begin(), range.end(), here[p]);
    Values there = here;
    const auto add = [&](std::int64_t value) {
      there[p] = value;
      if (const std::size_t c = find(there); c < size()) all.push_back(c);
    };
    if (at != range.begin()) add(*(at - 1));
    if (at + 1 != range.end()) add(*(at + 1));
  }
  return all;
}

std::string Space::describe(std::size_t config) const {
  std::string text;
  const Values v = values(config);
  for (std::size_t p = 0; p < v.size(); ++p)
    text += (p ? " " : "") + parameters_[p].name + "=" + std::to_string(v[p]);
  return text;
}

}  // namespace kolmo::tune
