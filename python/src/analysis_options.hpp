#pragma once
#include <memory>
#include <string>

#include "kolmo/flow/analysis/catalogue.hpp"
#include "python/src/module.hpp"

namespace kolmo::python {

/// The settled request of an analysis with options by name or alias; None is as if left out. Raises TypeError for an option
/// that there is not, and InvalidArgument for a value that is not accepted.
struct Request {
  Request(const AnalysisInfo& analysis, const nb::dict& options);

  const AnalysisInfo& analysis;
  std::shared_ptr<void> values;
  const AnalysisRequest* settled;
};

/// Sets an option of a request, which messages call `name`. Raises InvalidArgument for a value that is not accepted.
void set_option(const OptionInfo& option, void* request, const std::string& name, nb::handle value);

}  // namespace kolmo::python
