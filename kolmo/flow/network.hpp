#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kolmo/flow/estimate.hpp"
#include "kolmo/flow/statistics.hpp"

namespace kolmo {

class Checkpoint;
class Progress;

/// How the history and tau of each target are found.
enum class EmbeddingRule : std::int32_t { ais, ragwitz, given };
inline constexpr std::string_view embedding_rule_names[] = {"ais", "ragwitz", "given"};

struct NetworkOptions {
  std::vector<std::int32_t> variables;  ///< of the series: sources and targets
  std::vector<std::int32_t> given;      ///< conditioned on, each by its value one row back
  std::int64_t max_lag = 1;
  EmbeddingRule embedding = EmbeddingRule::ais;
  Embedding target{1, 1};  ///< if `given`
  std::int64_t max_history = 4, max_tau = 1;
  std::int64_t storage_surrogates = 20;  ///< whose mean is the bias taken off active information storage
  Embedding source{1, 1};
  EstimatorOptions estimator;
  PValue p_value = PValue::plus_one;
  Correction correction = Correction::bh;
  double alpha = 0.05;
};

struct TargetResult {
  std::int32_t target;
  Embedding embedding;
  std::int64_t samples;
  double storage;  ///< active information storage of the chosen embedding, in nats
};

/// An ordered pair. All values in nats; `value` is the largest of `profile`, which starts at lag 1, and the
/// surrogates' numbers are of their largest values over the same lags.
struct LinkResult {
  std::int32_t source = 0, target = 0;
  double value = 0;
  std::int64_t lag = 0;
  std::vector<double> profile;
  double p_value = 1, p_adjusted = 1;
  bool significant = false;
  Summary surrogates{};
};

struct Network {
  std::vector<TargetResult> targets;
  std::vector<LinkResult> links;  ///< by target, then source
};

/// InvalidArgument, naming the variable, for what would stop infer_network: fewer than two variables, too few
/// rows for the longest embedding, over 16 dimensions.
void check_network(const Series& series, const NetworkOptions& options);

/// Transfer entropy between all ordered pairs of variables, at lags 1 ... max_lag. A link's statistic is its
/// largest value over the lags; the same largest value is taken in every surrogate, which shuffles all lags
/// of the source alike, so that p needs no correction for the choice of the lag. All sources and lags of a
/// target are estimated from the same rows. The result depends on nothing but data and options: not on
/// device, threads, batches, or whether work was found in `checkpoint`. Both pointers may be null.
Network infer_network(const Series& series, const NetworkOptions& options, Stream& stream,
                      Checkpoint* checkpoint, Progress* progress);

/// Estimates, times rows, that infer_network will make: the unit it reports to `progress`.
double network_work(const Series& series, const NetworkOptions& options);

/// Rows that a link's embedding reaches back, the same for every source and lag of a target.
std::int64_t network_reach(const NetworkOptions& options, const Embedding& target);

/// The embedding of each target by options.embedding, and its storage; a step of infer_network.
///   ais: the largest active information storage, less the mean of its surrogates;
///   ragwitz: the smallest mean squared error of predicting the next value by the mean over those of the
///   nearest neighbours (Ragwitz, Kantz, Phys. Rev. E 65, 056201 (2002)); given: options.target.
/// Candidates are compared on the same rows; of equally good ones the smallest history wins.
std::vector<TargetResult> choose_embeddings(const Series& series, const NetworkOptions& options,
                                            std::span<const std::int32_t> targets, Stream& stream);

}  // namespace kolmo
