#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kolmo/base/ksg.hpp"
#include "kolmo/flow/embedding.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {

struct EstimatorOptions {
  std::int64_t neighbors = 4, theiler = 0, surrogates = 0;
  std::int64_t block_length = 0;  ///< of block surrogates; 0: the square root of the number of rows
  KsgAlgorithm algorithm = KsgAlgorithm::ksg1;
  SurrogateType surrogate_type = SurrogateType::permute;
  std::int64_t seed = 0;
  bool f32 = false;  ///< single precision: 1e-5 to 4e-3 off, and noise of 1e-8 is lost
};

/// I(x;y|z) for several alternatives of x, estimated from the rows at `times`.
struct EstimationTask {
  std::string name;  ///< for messages
  std::vector<Coordinates> x;
  Coordinates y, z;
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> streams;  ///< random stream of each alternative; equal ones are shuffled alike
};

/// The observed value of each alternative and those of its surrogates, in nats.
struct Estimates {
  std::int64_t surrogates = 0;
  std::vector<double> values;  ///< [alternative][1 + surrogates]

  double observed(std::size_t alternative) const { return row(alternative)[0]; }
  std::span<const double> surrogate(std::size_t alternative) const { return row(alternative).subspan(1); }

 private:
  std::span<const double> row(std::size_t alternative) const {
    const auto width = std::size_t(1 + surrogates);
    return std::span(values).subspan(alternative * width, width);
  }
};

/// InvalidArgument, naming the task, if it has no more than neighbors + 2 theiler rows or over 16 dimensions.
void check_task(const EstimationTask& task, const EstimatorOptions& options);

/// Estimates every task in one batch on the stream's device. Tasks of a batch have equally many alternatives
/// of equal dimensions; their numbers of rows may differ. Results do not depend on how tasks are batched.
std::vector<Estimates> estimate(const Series& series, std::span<const EstimationTask> tasks,
                                const EstimatorOptions& options, Stream& stream);
Estimates estimate(const Series& series, const EstimationTask& task, const EstimatorOptions& options,
                   Stream& stream);

/// Random stream of a source and target (columns of the file), the same in every command.
constexpr std::int64_t random_stream(std::int64_t target, std::int64_t source) {
  return target << 31 | source;
}

/// T(source -> target | given): source values lag, lag + tau, ... back; the target's past; every given
/// variable one row back.
EstimationTask transfer_entropy_task(const Series& series, std::int32_t source, std::int32_t target,
                                     std::span<const std::int32_t> given, const Embedding& source_past,
                                     const Embedding& target_past, std::int64_t lag);

/// I(next; past) of one variable.
EstimationTask storage_task(const Series& series, std::int32_t variable, const Embedding& embedding);

}  // namespace kolmo
