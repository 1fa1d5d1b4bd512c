#include "kolmo/flow/data/warning.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kolmo {

void SharedWarnings::tell(const std::string& name, const std::string& text,
                          std::vector<Warning>& warnings) const {
  const auto found = all_.find(name);
  if (found == all_.end()) return;
  constexpr std::size_t most = 8;
  std::string variables;
  for (std::size_t i = 0; i < std::min(most, found->second.size()); ++i)
    variables += (i ? ", " : "") + found->second[i];
  if (found->second.size() > most) variables += fmt::format(" and {} more", found->second.size() - most);
  warnings.push_back({name, variables + ": " + text});
}

}  // namespace kolmo
