#pragma once

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kolmo {

/// The result document of `kolmo network` as plain values, for the report and the graph files.
/// Numbers that the document leaves out or holds as null are NaN.
struct LagValue {
  int lag = 0;
  double value = std::numeric_limits<double>::quiet_NaN();
};

struct NetworkLink {
  std::size_t source = 0;
  std::size_t target = 0;
  double value = std::numeric_limits<double>::quiet_NaN();
  int lag = 0;
  double p_value = std::numeric_limits<double>::quiet_NaN();
  double p_adjusted = std::numeric_limits<double>::quiet_NaN();
  bool significant = false;
  std::vector<LagValue> profile;
  double surrogate_q95 = std::numeric_limits<double>::quiet_NaN();
};

struct NetworkTarget {
  std::size_t target = 0;
  int history = 0;
  int tau = 0;
  long long samples = 0;
  double active_information_storage = std::numeric_limits<double>::quiet_NaN();
};

struct NetworkDocument {
  std::string version;
  std::string command;
  std::string created;
  std::string device;
  std::optional<double> seconds;
  std::string units;
  long long samples = 0;
  std::vector<std::string> variables;
  std::vector<NetworkTarget> targets;
  std::vector<NetworkLink> links;
  nlohmann::json options;
  nlohmann::json source;  // the whole document, every string valid UTF-8

  /// Significant links, the largest value first; ties keep the order of the document.
  std::vector<const NetworkLink*> edges() const;
  /// A text option, "" where it is absent or of another type; a number option, NaN likewise.
  std::string text_option(const char* name) const;
  double number_option(const char* name) const;
};

/// Checks the document and copies it into values. Bytes that are not UTF-8 become U+FFFD.
/// InvalidArgument names the key that is missing, of the wrong type or out of range.
NetworkDocument read_network(const nlohmann::json& document);

}  // namespace kolmo
