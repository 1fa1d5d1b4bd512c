#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kolmo/flow/analysis/session.hpp"
#include "kolmo/flow/test/statistics.hpp"

namespace kolmo {

/// The result of an estimate of information, in nats.
struct EstimateResult {
  std::string measure;  ///< "mi", "te", "ais", "entropy"
  std::string of;       ///< the variables, for people
  double value = 0;
  std::int64_t samples = 0;
  double p_value = 0;                ///< NaN if there was no test
  std::string test;                  ///< "surrogates", "F", "chi-square"; empty if there was none
  std::int64_t surrogate_count = 0;  ///< different ones
  Summary surrogates{};
  std::int64_t sets = 1, missing_rows = 0;
  std::optional<TimeAxis> time;  ///< of the rows, if they have times
  double seconds = 0;
  nlohmann::ordered_json roles;                     ///< columns, histories, steps and lags used, by name
  std::function<nlohmann::ordered_json()> options;  ///< see options_json
  CommandOptions reading;                           ///< with which the file was read
  std::string file, device;
  int threads = 1;
  double factor = 1;  ///< from nats to `units`
  std::string units = "nats", p_value_formula;
  bool p_at_floor = false;      ///< no surrogate reached the value
  std::string surrogates_made;  ///< "circular surrogates, shifted by 5 rows or more"
  std::string local;            ///< CSV of local values, if they were asked for
  std::string local_path;
  std::vector<Warning> warnings;
  std::vector<std::string> notes;
};

/// Each takes a settled request and a session before Session::prepare(). Throws InvalidArgument, naming option, column or
/// row, for data that cannot be estimated from.
///   entropy                psi(N) - psi(k) + d <ln eps>, see entropy.hpp
///   mutual information     I(x; y), or I(x; y | given), of values at the same time; all pairs: mutual_information_matrix
///   storage                I(past; next) of one variable
///   transfer entropy       I(source past; target next | target past, given): one link of a network, with the same steps
EstimateResult analyse(const EntropyRequest& request, Session& session, const Streams& streams);
EstimateResult analyse(const MutualInformationRequest& request, Session& session, const Streams& streams);
EstimateResult analyse(const StorageRequest& request, Session& session, const Streams& streams);
EstimateResult analyse(const TransferEntropyRequest& request, Session& session, const Streams& streams);

/// The JSON object that the command prints.
nlohmann::ordered_json estimate_json(const EstimateResult& result);

}  // namespace kolmo
