#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kolmo/predict/record/rate_blocks.hpp"

namespace kolmo::predict {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// The record of one step of a training. NaN means unknown; a loss that is infinite was no finite number.
struct LogRow {
  std::int64_t step = 0;
  double loss = unknown;           ///< on the batch of the step
  double gradient_norm = unknown;  ///< before clipping
  double rate = unknown;           ///< the learning rate of the step
  double validation = unknown;     ///< loss on held-out data
  double averaged = unknown;       ///< loss on held-out data of averaged weights
};

/// A training in blocks of steps: what forecasters see. All vectors have one element a block.
struct Blocks : RateBlocks {
  std::int64_t length = 10;   ///< steps in a block
  std::int64_t end = 0;       ///< the last step of the last block
  std::int64_t restarts = 0;  ///< how often the training went back, so that blocks were dropped
  /// The mean of the finite losses. A block without one lies on the straight line between the known ones around it, and after the
  /// last known one it repeats it.
  std::vector<double> loss;
  std::vector<std::size_t>
      gaps;  ///< the blocks without a finite loss, ascending: nothing is scored or fitted there
  std::vector<double>
      gradient_norm;  ///< mean of those known; that of the block before, if there is none; NaN before the first
  std::vector<double> averaged;  ///< the last known one; NaN before the first

  /// Whether the loss of a block was measured.
  bool knows(std::size_t block) const { return !std::binary_search(gaps.begin(), gaps.end(), block); }
  /// Appends the loss of a block, NaN if it is not known, and fills the blocks before it that are not known. The first is known.
  void add_loss(double value);
};

/// The record of one running training. Rows are appended as they come; blocks are kept up to date, and a block is added when
/// its last step is known.
///   - Steps may skip numbers: a row stands for all steps since the row before, with its rate. An unknown rate is that of the row
///     before, and 1 before the first.
///   - Steps before the first row are taken to have had the rate of that row. The first step is 0 or 1 otherwise.
///   - A row whose step is not above the last one means that the training went back to a checkpoint: all rows from that step on are
///     dropped first.
class TrainingLog {
 public:
  /// `length`: steps in a block. `skip`: steps before the first block, so that a log of known length ends with a full block.
  /// Throws InvalidArgument if length < 1 or skip < 0.
  explicit TrainingLog(std::int64_t length = 10, std::int64_t skip = 0);

  /// Throws InvalidArgument for a negative step, and for a rate that is negative or infinite.
  void append(const LogRow& row);

  const std::vector<LogRow>& rows() const { return rows_; }
  const Blocks& blocks() const { return blocks_; }
  std::int64_t length() const { return blocks_.length; }
  /// The last step and its rate. 0 and 1 without rows.
  std::int64_t last_step() const { return rows_.empty() ? 0 : rows_.back().step; }
  double last_rate() const { return rate_; }
  /// The number of steps from the first row to the last.
  std::int64_t steps() const { return rows_.empty() ? 0 : rows_.back().step - rows_.front().step + 1; }
  /// Gathers rates from the open block on.
  const RateBlocker& open_rates() const { return rates_; }
  /// The steps before the first block.
  std::int64_t skip() const { return skip_; }
  /// The rows whose loss was no finite number.
  std::int64_t bad_losses() const { return bad_losses_; }
  /// The first of the steps at the end of the log none of whose losses was finite. None if the last known loss was.
  std::optional<std::int64_t> diverged_since() const { return diverged_since_; }
  /// Notes tell the user how the log was read. Each is a sentence.
  const std::vector<std::string>& notes() const { return notes_; }
  void note(std::string text) { notes_.push_back(std::move(text)); }

 private:
  void take(const LogRow& row);
  void go_back_before(std::int64_t step);
  void close_block(std::int64_t step);

  std::int64_t skip_;
  std::vector<LogRow> rows_;
  Blocks blocks_;
  RateBlocker rates_;
  double rate_ = 1;
  std::int64_t bad_losses_ = 0;
  std::optional<std::int64_t> diverged_since_;
  std::int64_t skipped_ = 0;
  struct Mean {
    double sum = 0, last = unknown;
    std::int64_t count = 0;
    void add(double value) {
      if (std::isfinite(value)) sum += value, ++count;
    }
    double close() {
      const double mean = count ? sum / double(count) : unknown;
      if (count) last = mean;
      sum = 0, count = 0;
      return mean;
    }
    double close_or_last() {
      close();
      return last;
    }
  } loss_, gradient_norm_;
  double averaged_ = unknown;
  std::vector<std::string> notes_;
};

/// The log of a whole training whose rows are known, in blocks that end with the last row. `length` 0: 10 steps, or more if rows are
/// further apart than that, so that each block has a row, or if the log has more than 100,000 steps, so that there are 10,000 blocks at
/// most.
TrainingLog log_of(std::span<const LogRow> rows, std::int64_t length = 0);

}  // namespace kolmo::predict
