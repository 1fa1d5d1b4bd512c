#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kolmo/flow/analysis/session.hpp"
#include "kolmo/flow/infer/pairs.hpp"

namespace kolmo {

/// The mutual information of all pairs of some columns, in nats.
struct MutualInformationMatrix {
  MutualInformationRequest request;  ///< with the parameters that were used
  std::vector<std::string> variables;
  std::vector<PairResult> pairs;  ///< x and y are indices into `variables`, x below y
  std::string test;               ///< "surrogates", "F", "chi-square"; empty if there was none
  std::int64_t rows = 0, sets = 1, missing_rows = 0;
  std::optional<TimeAxis> time;  ///< of the rows, if they have times
  CommandOptions reading;        ///< with which the file was read
  std::string file, device;
  int threads = 1;
  double seconds = 0;
  std::vector<Warning> warnings;
  std::vector<std::string> notes;

  bool p_at_floor(const PairResult& pair) const;
};

/// I(x; y | given) of all pairs of columns at the same time, as estimate_pairs does. Takes a settled request with all_pairs, and
/// a session before Session::prepare(). Throws InvalidArgument, naming option, column or row, for data that cannot be estimated
/// from.
MutualInformationMatrix mutual_information_matrix(const MutualInformationRequest& request, Session& session,
                                                  const Streams& streams);

/// The JSON object that the command prints, in the units of the request.
nlohmann::ordered_json matrix_json(const MutualInformationMatrix& matrix);

}  // namespace kolmo
