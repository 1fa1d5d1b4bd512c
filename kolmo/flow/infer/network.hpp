#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kolmo/flow/estimate/batching.hpp"
#include "kolmo/flow/estimate/estimate.hpp"
#include "kolmo/flow/infer/greedy_options.hpp"
#include "kolmo/flow/infer/selection.hpp"
#include "kolmo/flow/test/sequential_test.hpp"

namespace kolmo {

class FinishedWork;
class Progress;

/// How the history and tau of each target are chosen.
enum class EmbeddingRule : std::int32_t { ais, ragwitz, given };
inline constexpr std::string_view embedding_rule_names[] = {"ais", "ragwitz", "given"};
constexpr std::span<const std::string_view> names_of(EmbeddingRule) { return embedding_rule_names; }

struct NetworkOptions {
  std::vector<std::int32_t> variables;  ///< indices into the series: sources and targets
  std::vector<std::int32_t>
      targets;        ///< those of the variables whose incoming links are estimated; empty: all
  Coordinates given;  ///< further values in the condition
  std::int64_t min_lag = 1, max_lag = 1;
  EmbeddingRule embedding = EmbeddingRule::ais;
  Embedding target{1, 1};  ///< for EmbeddingRule::given
  std::int64_t max_history = 4, max_tau = 1;
  Embedding source{1, 1};
  EstimatorOptions estimator;
  PValue p_value = PValue::plus_one;
  Correction correction = Correction::bh;
  double alpha = 0.05;
  std::int64_t exceedances = 0;  ///< of StoppingRule; 0: each link gets all surrogates
  NetworkMethod method = NetworkMethod::pairwise;
  bool conditional_all = false;        ///< of pairwise: see condition_of_link
  GreedyOptions greedy;                ///< settled; for other methods than pairwise
  std::optional<BatchLimits> batches;  ///< default: those of the device; results do not depend on it

  StoppingRule rule() const { return {exceedances, estimator.surrogates}; }
  std::int64_t lags() const { return max_lag - min_lag + 1; }
  const std::vector<std::int32_t>& chosen_targets() const { return targets.empty() ? variables : targets; }
};

struct TargetResult {
  std::int32_t target;
  Embedding embedding;
  std::int64_t samples;  ///< embedded rows of the target and the given values
  double storage;        ///< active information storage of the chosen embedding, in nats
};

/// An ordered pair of variables. All values in nats. `value` is the maximum of `profile`, which starts at
/// min_lag. The surrogate statistics refer to the maximum of each surrogate over the same lags; if the tests are sequential, they are
/// those of SequentialTest::describe().
struct LinkResult {
  std::int32_t source = 0, target = 0;
  std::int64_t samples = 0;  ///< embedded rows, in which source, target and the given values are not missing
  double value = 0;
  std::int64_t lag = 0;
  std::vector<double> profile;
  double p_value = 1, p_adjusted = 1;
  bool significant = false;
  Summary surrogates{};
  /// Those of the p-value, all different: fewer than asked for if there are no more circular shifts, or if the test ended early.
  std::int64_t surrogate_count = 0;
  std::int64_t min_shift = 0;        ///< of circular surrogates, see LinkShifts
  std::vector<std::int64_t> lags{};  ///< that a greedy search chose, ascending
};

struct Network {
  std::vector<TargetResult> targets;
  std::vector<LinkResult> links;              ///< by target, then source
  std::vector<TargetSelection> selections{};  ///< of greedy searches, by target
};

struct PreparedNetwork;

/// NetworkMethod::pairwise: transfer entropy between all ordered pairs of variables, at lags min_lag ... max_lag. A link's
/// statistic is the maximum over the lags (max_statistic), tested as `options.rule()` says; tests that are still open end together
/// once may_stop() says so of the whole network. Other methods: see GreedySearch and adjust_selected. All sources and lags of a target
/// are estimated from the same rows. The result depends
/// only on data and options: not on device, threads, batches, or on work that `finished` already holds; what is computed is
/// added to that. Both pointers may be null.
Network infer_network(const PreparedNetwork& prepared, const Streams& streams, FinishedWork* finished,
                      Progress* progress);
/// Prepares the series first.
Network infer_network(const Series& series, const NetworkOptions& options, const Streams& streams,
                      FinishedWork* finished, Progress* progress);

/// A step of infer_network for some of its targets, which may be done anywhere: computes what `finished` lacks of their embeddings and
/// of the surrogates that have begun, or else the next part of surrogates of all links that are open. Whether the network needs that,
/// unfinished_targets() says.
void infer_step(const PreparedNetwork& prepared, std::span<const std::int32_t> targets,
                const Streams& streams, FinishedWork& finished, Progress* progress);

/// The targets of which infer_network needs more than the records hold, as far as the records tell: those that lack an embedding or
/// surrogates of a part that has begun; if there are none, those with links that are open, unless the tests may stop.
std::vector<std::int32_t> unfinished_targets(
    const PreparedNetwork& prepared,
    const std::map<std::pair<std::int64_t, std::int64_t>, std::string>& records);

/// The work of infer_network, in estimates times rows: the unit that it reports to `progress`.
double network_work(const Series& series, const NetworkOptions& options);

}  // namespace kolmo
