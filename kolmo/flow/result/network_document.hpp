#pragma once

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kolmo/flow/data/time_axis.hpp"
#include "kolmo/flow/data/warning.hpp"
#include "kolmo/flow/infer/network.hpp"
#include "kolmo/flow/request/options_json.hpp"

namespace kolmo {

/// The result of `kolmo network` as plain values. The result document, the report and the graph files are
/// made from it. Variables are numbered by their place in `variables`; values are in `units`; missing numbers
/// are NaN.
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
  double surrogate_mean = std::numeric_limits<double>::quiet_NaN();
  double surrogate_std = std::numeric_limits<double>::quiet_NaN();
  double surrogate_q95 = std::numeric_limits<double>::quiet_NaN();
  long long surrogate_count = 0;  ///< number of different surrogates; 0: as many as the options say
  long long samples = 0;          ///< embedded rows that the link uses
  long long min_shift = 0;        ///< for circular surrogates; otherwise 0
  std::string command;            ///< estimates this link alone, with the same value
  std::vector<int> lags{};        ///< that a greedy search chose, ascending
};

/// A value in the past that a greedy search chose (see Chosen), or removed again.
struct ChosenValue {
  std::size_t variable = 0;
  int lag = 0;
  double value, p_value;
  long long surrogates = 0;
  double given_all, p_given_all;
};
struct RemovedValue {
  std::size_t variable = 0;
  int lag = 0;
  std::string_view test;  ///< one of selection_test_names
  double value, p_value;
};

/// Holds the result of a greedy search of sources for a target, see SourceSelection.
struct NetworkSearch {
  std::vector<std::size_t> offered;
  std::vector<ChosenValue> chosen;
  std::vector<RemovedValue> removed;
  double joint, joint_p, first_p;
};

/// The time between two rows, in a unit that has a name.
struct TimeStep {
  double step = 1;
  std::string unit;
};

/// SHA-256 of a run's data in 64 hexadecimal digits, and what was hashed. Empty if unknown.
struct Checksum {
  std::string sha256, of;
};

/// Groups of variables, for figures: group_of[i] is the index in `names` of the group of variable i.
struct VariableGroups {
  std::vector<std::string> names;
  std::vector<std::size_t> group_of;
};

struct NetworkTarget {
  std::size_t target = 0;
  int history = 0;
  int tau = 0;
  long long samples = 0;
  double active_information_storage = std::numeric_limits<double>::quiet_NaN();
  std::vector<ChosenValue> own_past{};    ///< of greedy searches, in the order in which they joined
  std::vector<NetworkSearch> searches{};  ///< one of all sources, or one of each
  bool full = false;                      ///< the condition has the most values; no more were tested
};

struct NetworkDocument {
  std::string command, device;
  std::string file;        ///< of the data; "data" in Python
  CommandOptions reading;  ///< options with which the file was read
  NetworkRequest request;  ///< settled: what was asked for, with the values used
  std::string version;
  std::optional<double> seconds;  ///< duration of the computation
  std::string units = "nats";
  long long rows = 0, sets = 1, missing_rows = 0;
  std::vector<std::string> variables;
  std::vector<NetworkTarget> targets;
  std::vector<NetworkLink> links;
  std::vector<Warning> warnings;
  std::optional<TimeStep> time_step;
  std::optional<TimeAxis> time;  ///< of the rows, if they have times
  std::string date;              ///< date of the run, YYYY-MM-DD; "" if unknown
  Checksum data;
  VariableGroups groups;  ///< empty, or with a group for every variable

  /// Whether the values of each target were chosen by greedy searches.
  bool greedy() const { return request.method != NetworkMethod::pairwise; }
  /// Whether the own pasts of variables were chosen, and nothing else, so that there are no links.
  bool only_storage() const { return greedy() && request.greedy.measure == GreedyMeasure::ais; }
  /// Whether the searches follow the rules of IDTxl.
  bool idtxl() const { return greedy() && request.greedy.compatible == GreedyRules::idtxl; }
  /// Whether links were tested, by surrogates or analytically. If not, values are shown, and no link is claimed.
  bool tested() const { return compared() || analytic(); }
  /// Whether tests could end before they had all surrogates.
  bool sequential() const {
    return StoppingRule{request.exceedances.value_or(0), request.estimator.surrogates}.sequential();
  }
  /// Whether there are surrogates, and so bias-corrected values and z.
  bool compared() const { return request.estimator.surrogates != 0; }
  /// Whether p-values are those of an F test.
  bool analytic() const { return request.estimator.tested_analytically(); }
  /// Significant links, the largest value first; ties keep the order of the document.
  std::vector<const NetworkLink*> significant_links() const;
  /// A lag as text: "3", or with a time step "3 (0.75 year)".
  std::string lag_text(long long lag) const;
  /// Lags as text: "1, 2", or with a time step "1, 2 (0.25, 0.5 year)"; "none" if there are none.
  std::string lags_text(const std::vector<int>& lags) const;
  /// The lags of a link: "lag 3" or, if several were chosen, "lags 1, 2, 3".
  std::string at_lags(const NetworkLink& link) const;
};

/// Makes the document of a result; a pure function. Values are in the request's units.
NetworkDocument network_document(const Network& network, const Series& series, const NetworkOptions& options,
                                 const NetworkRequest& request);

/// Says what the links of this network do not show, in two or three sentences of plain text.
std::string caution(const NetworkDocument& network);

/// A copy of the document with bytes that are not UTF-8 replaced by U+FFFD. Throws InvalidArgument if there
/// is no variable, or if a link, a target or the groups refer to one that does not exist.
NetworkDocument checked(const NetworkDocument& document);

}  // namespace kolmo
