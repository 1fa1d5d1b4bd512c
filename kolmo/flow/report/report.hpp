#pragma once

#include <string>
#include <vector>

#include "kolmo/flow/result/network_document.hpp"

namespace kolmo {

/// The series that the report plots, after pre-processing: values[i] belongs to names[i]; NaN is a gap.
/// Series may differ in length.
struct ReportSeries {
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;
};

/// The report of `kolmo network` as one self-contained HTML page with the network, the matrix, lag profiles,
/// series and settings. A pure function: equal input gives equal bytes. The page loads nothing (a content
/// security policy forbids it). Figures are static SVG and print without scripts. Throws InvalidArgument if
/// an option is missing that the page describes, or if names and values differ in number, and the exceptions
/// of checked().
std::string html_report(const NetworkDocument& network, const ReportSeries& series);

}  // namespace kolmo
