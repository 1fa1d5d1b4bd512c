#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kolmo/flow/data/embedding.hpp"
#include "kolmo/flow/estimate/estimator.hpp"
#include "kolmo/flow/surrogate/surrogates.hpp"
#include "kolmo/knn/ksg.hpp"
#include "kolmo/runtime/streams.hpp"

namespace kolmo {

class Progress;

/// The most surrogates that a command accepts.
inline constexpr std::int64_t max_surrogates = 1000000;

/// Says which rows a Theiler window may span. `recording`: all rows of a recording, or of a trial if there
/// are trials; the distance of two rows counts all rows of the file between them, missing ones included.
/// `set`: only rows of one observation set.
enum class TheilerScope : std::int32_t { recording, set };
inline constexpr std::string_view theiler_scope_names[] = {"recording", "set"};
constexpr std::span<const std::string_view> names_of(TheilerScope) { return theiler_scope_names; }

/// Selects the rows that N counts in the term psi(N) of estimates without a condition. `allowed` counts, for each row, the
/// row and those that the Theiler window allows as its neighbours. `all` counts all rows, as JIDT does, which inflates
/// the estimate.
enum class TheilerCount : std::int32_t { allowed, all };
inline constexpr std::string_view theiler_count_names[] = {"allowed", "all"};
constexpr std::span<const std::string_view> names_of(TheilerCount) { return theiler_count_names; }

/// The most rows that an option counts.
inline constexpr std::int64_t max_rows = 1000000000;

struct EstimatorOptions {
  std::int64_t neighbors = 4;     ///< 0: with_neighbors() chooses
  bool neighbors_chosen = false;  ///< with_neighbors() chose them
  std::int64_t theiler = 0, surrogates = 0;
  TheilerScope theiler_scope = TheilerScope::recording;
  TheilerCount theiler_count = TheilerCount::allowed;
  std::int64_t min_shift = 0;     ///< for circular surrogates; 0 has settled() choose
  std::int64_t block_length = 0;  ///< for block surrogates; 0 has settled() choose
  KsgAlgorithm algorithm = KsgAlgorithm::ksg1;
  SurrogateMethod surrogate_type = SurrogateMethod::circular;
  std::uint64_t seed = 0;
  bool f32 = false;  ///< single precision; errors are 1e-5 to 4e-3, and noise of 1e-8 is lost
  Estimator estimator = Estimator::ksg;
  Bias bias = Bias::none;  ///< for discrete and ordinal

  static constexpr auto neighbor_fields() {
    return list_of(
        value_option<&EstimatorOptions::neighbors>("neighbors", 1, 64,
                                                   "nearest neighbours; auto: from rows and columns")
            .also("k")
            .or_chosen_by("auto")
            .of(OptionUse::ksg)
            .in_methods(),
        value_option<&EstimatorOptions::theiler>(
            "theiler", 0, max_rows, "rows of the file that are this near in time are no neighbours")
            .of(OptionUse::ksg)
            .in_methods(),
        value_option<&EstimatorOptions::theiler_scope>("theiler_scope",
                                                       "the Theiler window counts rows of a recording "
                                                       "(trial), missing ones included, or stays within the "
                                                       "rows between two missing ones")
            .of(OptionUse::ksg),
        value_option<&EstimatorOptions::theiler_count>(
            "theiler_count",
            "rows that psi(N) counts under a Theiler window: allowed neighbours, or all as JIDT counts, "
            "which inflates estimates without a condition")
            .of(OptionUse::ksg));
  }
  static constexpr auto estimator_fields() {
    return list_of(
        value_option<&EstimatorOptions::estimator>(
            "estimator",
            "nearest neighbours; covariances of linear relations; frequencies of few different values, or of "
            "ordinal patterns")
            .in_methods(),
        value_option<&EstimatorOptions::algorithm>(
            "algorithm", "estimator of Kraskov et al.; ksg2 is biased with a condition")
            .of(OptionUse::ksg)
            .in_methods(),
        value_option<&EstimatorOptions::bias>("bias", "correction of the frequencies of discrete and ordinal")
            .of(OptionUse::frequencies));
  }
  static constexpr auto surrogate_fields() {
    return told(list_of(
        value_option<&EstimatorOptions::surrogates>("surrogates", 0, max_surrogates,
                                                    "surrogates for the p-value; 0: none"),
        value_option<&EstimatorOptions::surrogate_type>(
            "surrogate_type",
            "how surrogates are made: all but permute keep the autocorrelation; see docs/surrogates.md")
            .of(OptionUse::surrogates),
        value_option<&EstimatorOptions::min_shift>(
            "min_shift", 0, max_rows,
            "shortest shift of circular surrogates, in rows; 0: from the autocorrelation and the embedding")
            .of(OptionUse::surrogates),
        value_option<&EstimatorOptions::block_length>(
            "block_length", 0, max_rows,
            "rows in a block of block surrogates; 0: from the autocorrelation (Politis, White)")
            .of(OptionUse::surrogates)));
  }
  static constexpr auto seed_field() {
    return told(list_of(
        value_option<&EstimatorOptions::seed>("seed", "seed of noise and surrogates").also("random_state")));
  }

  /// Whether p-values come from a formula: those of gaussian do, unless surrogates are asked for.
  bool tested_analytically() const { return estimator == Estimator::gaussian && surrogates == 0; }
  /// The observed data and all surrogates.
  SurrogateRange draws() const { return {0, 1 + surrogates}; }
};

/// The options, where parameters of the surrogates that are 0 are replaced by values chosen from the series. The longest
/// embedding reaches `reach` rows back.
///   min_shift      the longest Autocorrelation::length of the variables, and at least reach + 1; at most a quarter of
///                  the rows
///   block_length   the longest Autocorrelation::block_length, and at least reach + 1; at most a fifth of the rows
EstimatorOptions settled(EstimatorOptions options, const Series& series, std::int64_t reach);

/// The min_shift that settled() chooses for `rows` embedded rows, where `length` is the longest Autocorrelation::length.
std::int64_t settled_shift(std::int64_t rows, std::int64_t length, std::int64_t reach);

/// I(x;y|z) for several alternatives of x, estimated from the rows at `times`.
struct EstimationTask {
  std::string name;  ///< for messages
  std::vector<Coordinates> x;
  Coordinates y, z;
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> streams;  ///< random stream of each alternative; equal ones are shuffled alike
  std::vector<std::int64_t>
      min_shifts{};  ///< of circular surrogates of each alternative; empty: that of the options

  std::int64_t min_shift(std::size_t alternative, const EstimatorOptions& options) const {
    return min_shifts.empty() ? options.min_shift : min_shifts[alternative];
  }
};

/// Estimates in nats: for each alternative that of the observed data, then those of its surrogates.
struct Estimates {
  SurrogateRange draws{};
  std::vector<std::int64_t>
      different;  ///< [alternative]: the first ones; others repeat them (see SurrogateType::circular)
  std::vector<double> values;    ///< [alternative][draw]
  std::vector<double> p_values;  ///< [alternative], of the analytic test; else empty

  /// Needs draws that begin with the observed data.
  double observed(std::size_t alternative) const { return row(alternative)[0]; }
  std::span<const double> surrogate(std::size_t alternative) const {
    return row(alternative).subspan(draws.observed(), std::size_t(different[alternative]));
  }

 private:
  std::span<const double> row(std::size_t alternative) const {
    const auto width = std::size_t(draws.count);
    return std::span(values).subspan(alternative * width, width);
  }
};

/// The times of a task: those that are embeddable for its variables, as far back as its coordinates reach, or `least_reach`.
std::vector<std::int64_t> times_of(const Series& series, const EstimationTask& task,
                                   std::int64_t least_reach = 0);

/// Whether x of an alternative or y never changes, so that its estimates are 0.
bool tells_nothing(const Series& series, const EstimationTask& task, std::size_t alternative);

/// Throws InvalidArgument, naming the task, if it has too few rows: ksg needs more than neighbors + 2
/// theiler, gaussian more than 1 + dimensions. Throws also if a task of ksg has more than 16 dimensions, and
/// if its surrogates cannot be made: blocks as long as the rows, trials of different lengths, several columns
/// of x for iaaft.
void check_task(const Series& series, const EstimationTask& task, const EstimatorOptions& options);

/// The time of each row of a task, by which the Theiler window goes. Empty if the times are 0, 1, 2, ...
std::vector<std::int64_t> theiler_times(const Series& series, std::span<const std::int64_t> times,
                                        const EstimatorOptions& options);

/// The options, settled for the longest embedding of the tasks.
EstimatorOptions settled(EstimatorOptions options, const Series& series,
                         std::span<const EstimationTask> tasks);

/// The times that estimates use which are tested by these surrogates: all, but the first of each trial where surrogates exchange
/// trials, as many as the trial has that has the fewest.
std::vector<std::int64_t> tested_times(const Series& series, std::vector<std::int64_t> times,
                                       const EstimatorOptions& options);

/// The number of embedded rows of each trial. Throws InvalidArgument, naming the task, if they differ or if there are
/// less than two trials.
std::int64_t rows_of_trial(const Series& series, std::span<const std::int64_t> times,
                           const std::string& task);

/// The number of different surrogates of a task, at most `most`. Circular shifts and orders of blocks or
/// trials may be few.
std::int64_t different_surrogates(const Series& series, std::span<const std::int64_t> times,
                                  const EstimatorOptions& options, std::int64_t most);

/// Estimates::different of a task.
std::vector<std::int64_t> computed_surrogates(const EstimationTask& task, const EstimatorOptions& options,
                                              SurrogateRange draws);

/// The arrangement of surrogates of a task's rows; circular shifts are those of the options. Not of spectral surrogates,
/// which rearrange no rows.
SurrogateOptions surrogate_options(const Series& series, const EstimationTask& task,
                                   const EstimatorOptions& options);

/// Estimates all tasks in one batch on the stream's device. The tasks must have equally many alternatives and
/// equal dimensions; their numbers of rows may differ. Results do not depend on how tasks are grouped into
/// batches, nor on the draws that a call asks for: by default all. Throws InvalidArgument if the stream is not of the CPU
/// and the estimator is not ksg.
std::vector<Estimates> estimate(const Series& series, std::span<const EstimationTask> tasks,
                                const EstimatorOptions& options, Stream& stream,
                                std::optional<SurrogateRange> draws = {});
/// Several devices share the surrogates; the others estimate again what a device that is lost had begun. With `progress`, where
/// estimates_in_parts(), each part that is finished is reported to it, in estimates. The values are the same.
Estimates estimate(const Series& series, const EstimationTask& task, const EstimatorOptions& options,
                   const Streams& streams, Progress* progress = nullptr);

/// Whether surrogates can be estimated in parts without loss of time. They cannot where one call of the
/// operator makes neighbour lists that serve many surrogates: in parts, those take up to twice as long.
bool estimates_in_parts(const EstimationTask& task, const EstimatorOptions& options, Device device);

/// Local values of the observed data of a task with one alternative: one for each of task.times, in nats; their mean is
/// the estimate. Of ksg those of the operator, of gaussian and discrete log ratios of densities or frequencies
/// (gaussian.hpp, discrete.hpp). Throws InvalidArgument for Bias::miller_madow, which corrects the mean only.
std::vector<double> local_values(const Series& series, const EstimationTask& task, EstimatorOptions options,
                                 Stream& stream);

/// T(source -> target | given). The source's past starts at `lag`.
EstimationTask transfer_entropy_task(const Series& series, std::int32_t source, std::int32_t target,
                                     const Coordinates& given, const Embedding& source_past,
                                     const Embedding& target_past, std::int64_t lag);

/// I(next; past) of one variable: its active information storage.
EstimationTask storage_task(const Series& series, std::int32_t variable, const Embedding& embedding);

}  // namespace kolmo
