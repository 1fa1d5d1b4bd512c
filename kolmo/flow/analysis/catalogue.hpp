#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "kolmo/flow/analysis/estimates.hpp"

namespace kolmo {

/// An analysis without the type of its request: what interfaces say of it, and how it is run.
struct AnalysisInfo {
  std::string_view name;      ///< of the command
  std::string_view function;  ///< of Python's function or class
  std::string_view summary, about, example, source;
  Options options;
  std::shared_ptr<void> (*make)();  ///< a request with the usual values
  /// Settles a request of this analysis, and the part of it that all have.
  const AnalysisRequest& (*settle)(void* request);
  /// Runs a settled request. Null for a network, see NetworkAnalysis.
  EstimateResult (*run)(const void* request, Session& session, const Streams& streams);
};

std::span<const AnalysisInfo> all_analyses();
/// Throws InvalidArgument if there is none of this name.
const AnalysisInfo& find_analysis(std::string_view name);

/// What an analysis says of itself: name, function, summary, about, example, source, and of each option its name, alias,
/// kind, default, bounds, choices and help. Python's signatures and the reference page are made of it.
nlohmann::ordered_json describe(const AnalysisInfo& analysis);

}  // namespace kolmo
