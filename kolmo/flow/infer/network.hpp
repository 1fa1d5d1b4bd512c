#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kolmo/flow/estimate/batching.hpp"
#include "kolmo/flow/estimate/estimate.hpp"
#include "kolmo/flow/test/statistics.hpp"

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
  std::optional<BatchLimits> batches;  ///< default: those of the device; results do not depend on it

  std::int64_t lags() const { return max_lag - min_lag + 1; }
  const std::vector<std::int32_t>& chosen_targets() const { return targets.empty() ? variables : targets; }
};

struct TargetResult {
  std::int32_t target;
  Embedding embedding;
  std::int64_t samples;
  double storage;  ///< active information storage of the chosen embedding, in nats
};

/// An ordered pair of variables. All values in nats. `value` is the maximum of `profile`, which starts at
/// min_lag. The surrogate statistics refer to the maximum of each surrogate over the same lags.
struct LinkResult {
  std::int32_t source = 0, target = 0;
  double value = 0;
  std::int64_t lag = 0;
  std::vector<double> profile;
  double p_value = 1, p_adjusted = 1;
  bool significant = false;
  Summary surrogates{};
  std::int64_t surrogate_count =
      0;                       ///< different ones; fewer than asked for if there are no more circular shifts
  std::int64_t min_shift = 0;  ///< of circular surrogates, see LinkShifts
};

struct Network {
  std::vector<TargetResult> targets;
  std::vector<LinkResult> links;  ///< by target, then source
};

/// Throws InvalidArgument, naming the variable, if infer_network cannot run: fewer than two variables, a
/// target that is none of them, too few rows for the longest embedding, more than 16 dimensions.
void check_network(const Series& series, const NetworkOptions& options);

/// Transfer entropy between all ordered pairs of variables, at lags min_lag ... max_lag. A link's statistic is the
/// maximum over the lags. The same maximum is taken in every surrogate, which shuffles all lags of the source
/// alike, so p needs no correction for the choice of the lag; the smallest analytic p is corrected for it by
/// sidak(). All sources and lags of a target are estimated from the same rows. The result depends only on data
/// and options: not on device, threads, batches, or on work that `finished` already holds; what is computed is
/// added to that. Both pointers may be null.
Network infer_network(const Series& series, const NetworkOptions& options, Stream& stream,
                      FinishedWork* finished, Progress* progress);

/// The step of infer_network that estimates links from some sources to a target: the task, and the link from
/// sources[which].
EstimationTask link_task(const Series& series, const NetworkOptions& options, const TargetResult& target,
                         std::span<const std::int32_t> sources);
LinkResult link_of(const NetworkOptions& options, std::int32_t source, std::int32_t target, std::size_t which,
                   const Estimates& estimates);

/// The options with the parameters of surrogates settled by the longest embedding that may be chosen, but for min_shift,
/// which each link has of its own.
NetworkOptions settled(NetworkOptions options, const Series& series);

/// The min_shift of each link: the one given, or, as in `settled`, of the longest Autocorrelation::length of its source,
/// its target and the variables in the condition. A slowly varying series takes shifts from its own links only. 0 for
/// surrogates that are not circular.
class LinkShifts {
 public:
  LinkShifts(const Series& series, const NetworkOptions& options);
  std::int64_t of(std::int32_t source, std::int32_t target) const;

 private:
  std::int64_t fixed_ = 0, reach_ = 0, rows_ = 0;
  std::vector<std::int64_t>
      length_;  // of each variable, at least those of the condition; empty if all are fixed
};

/// The work of infer_network, in estimates times rows: the unit that it reports to `progress`.
double network_work(const Series& series, const NetworkOptions& options);

/// The embedding with the most and oldest values that may be chosen for a target.
Embedding longest_embedding(const NetworkOptions& options);

/// The largest lag in a link's embedding, in rows; the same for every source and lag of a target.
std::int64_t network_reach(const NetworkOptions& options, const Embedding& target);

/// Chooses the embedding of each target by options.embedding and computes its storage; a step of
/// infer_network.
///   ais        the largest active information storage less its bias: of gaussian gaussian_bias, of discrete and
///              ordinal discrete_bias, of ksg 0 (docs/choosing.md, "Embedding")
///   ragwitz    the smallest mean squared error of predicting the next value by the mean over the nearest
///              neighbours' next values
///   given      options.target
/// Candidates are compared on the same rows. Of equally good ones the one with the smallest history is
/// chosen.
/// Source: Ragwitz, Kantz, Phys. Rev. E 65, 056201 (2002).
std::vector<TargetResult> choose_embeddings(const Series& series, const NetworkOptions& options,
                                            std::span<const std::int32_t> targets, Stream& stream);

}  // namespace kolmo
