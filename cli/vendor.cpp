#include "cli/vendor.hpp"

#include <algorithm>

#include "kolmo/runtime/cuda/cublaslt.hpp"

namespace kolmo::cli {

std::string vendor_library_text() {
  const cuda::VendorLibrary* l = cuda::vendor_library();
  if (!l) return "";
  return l->problem.empty() ? l->name + ": " + l->path : l->name + " is not used: " + l->problem;
}

bool calls_vendor_library(const OpEntry& entry) {
  const auto rows = entry.variants(DeviceKind::cuda);
  return std::any_of(rows.begin(), rows.end(), [](const Variant& v) { return v.vendor; });
}

}  // namespace kolmo::cli
