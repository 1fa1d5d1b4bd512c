#pragma once
#include <string_view>

namespace kolmo {

/// Major, minor and patch number, as in "0.2.0".
std::string_view version();
/// The commit this was built from, shortened, with "-dirty" if the tree had changes; "unknown" outside git.
std::string_view commit();

}  // namespace kolmo
