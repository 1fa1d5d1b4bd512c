#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kolmo {

/// Series for the plots of the report, after pre-processing: values[i] belongs to names[i]; NaN is a gap.
/// Series may differ in length.
struct ReportSeries {
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;
};

/// The report of `kolmo network` as one self-contained HTML page: the network, the matrix, lag profiles,
/// series, settings. `network` is the document that `kolmo network --out` writes. A pure function: equal
/// input, equal bytes. The page loads nothing (a content security policy forbids it); figures are static SVG
/// and print without scripts. InvalidArgument if the document lacks a key or names and values differ in
/// number.
std::string html_report(const nlohmann::json& network, const ReportSeries& series);

}  // namespace kolmo
