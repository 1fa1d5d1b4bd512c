#include <string>

#include "kolmo/base/error.hpp"
#include "kolmo/base/number_text.hpp"
#include "kolmo/topology/matching.hpp"

namespace kolmo::topology {
namespace {

/// The finite intervals, and in each of the other lists the finite ends of those that have one, or none.
struct Split {
  Diagram finite;
  std::array<std::vector<double>, 3> ends;  // never die; were always there; both
};

Split split(const Diagram& diagram, const std::string& name) {
  Split s;
  for (std::size_t i = 0; i < diagram.size(); ++i) {
    const auto& [birth, death] = diagram[i];
    require(birth <= death, name + ": interval " + std::to_string(i) + " is from " + number_text(birth) +
                                " to " + number_text(death) + "; a birth is not after its death, nor NaN");
    if (birth == death) continue;
    const bool always = birth == -HUGE_VAL, forever = death == HUGE_VAL;
    if (!always && !forever)
      s.finite.push_back(diagram[i]);
    else
      s.ends[always && forever ? 2 : always ? 1 : 0].push_back(always ? forever ? 0 : death : birth);
  }
  for (auto& ends : s.ends) std::ranges::sort(ends);
  std::ranges::sort(s.finite);
  return s;
}

}  // namespace

void fail_beyond(const std::string& name) {
  fail<InvalidArgument>(name + ": is beyond the largest double; divide both diagrams by a power of ten");
}

FinitePart finite_part(const Diagram& a, const Diagram& b, const char* name) {
  Split first = split(a, std::string(name) + ": a"), second = split(b, std::string(name) + ": b");
  FinitePart part{std::move(first.finite), std::move(second.finite), {}};
  for (std::size_t k = 0; k < first.ends.size(); ++k) {
    if (first.ends[k].size() != second.ends[k].size()) {
      part.infinite = true;
      continue;
    }
    for (std::size_t i = 0; i < first.ends[k].size(); ++i)
      part.essential.push_back(std::fabs(first.ends[k][i] - second.ends[k][i]));
  }
  if (!part.infinite && std::ranges::count(part.essential, HUGE_VAL)) fail_beyond(name);
  return part;
}

}  // namespace kolmo::topology
