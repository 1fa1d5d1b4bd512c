#pragma once
#include <string_view>

namespace kolmo {

/// "0.1.0"
std::string_view version();
/// Commit this was built from, shortened, with "-dirty" when the tree had changes; "unknown" outside git.
std::string_view commit();

}  // namespace kolmo
