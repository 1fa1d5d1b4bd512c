#pragma once
#include <string_view>

namespace kolmo {

/// "0.1.0"
std::string_view version();
/// The commit this was built from, shortened, with "-dirty" if the tree had changes; "unknown" outside git.
std::string_view commit();

}  // namespace kolmo
