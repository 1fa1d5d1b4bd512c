#pragma once
#include <string>
#include <vector>

#include "kolmo/predict/analysis/forecast.hpp"

namespace kolmo::predict {

/// A figure as SVG: the log's blocks, and for each plan the median with its 50 % and 90 % intervals, on a logarithmic axis, and the
/// target of the first. Plan i has the class gi of report.css. What is drawn first, such as a style, may be given.
std::string fans(const TrainingLog& log, const std::vector<const ForecastResult*>& plans,
                 const std::string& first = "");

}  // namespace kolmo::predict
