#include "kolmo/predict/record/training_log.hpp"

#include <algorithm>

#include "kolmo/base/error.hpp"
#include "kolmo/base/number_text.hpp"

namespace kolmo::predict {
namespace {

/// The most blocks that a row may lie behind the row before.
constexpr std::int64_t longest_gap = 10000;

/// The most blocks of a log whose blocks may have any number of steps: more would take long, and say no more of what comes.
constexpr std::int64_t most_blocks = 10000;

/// The most steps between rows: plans have a rate for every step.
constexpr std::int64_t farthest = 20000;

/// The usual distance of steps between rows with a loss; 1 for fewer than two.
std::int64_t usual_distance(std::span<const LogRow> rows) {
  std::vector<std::int64_t> distances;
  std::int64_t last = -1;
  for (const LogRow& row : rows) {
    if (std::isnan(row.loss)) continue;
    if (last >= 0) distances.push_back(row.step - last);
    last = row.step;
  }
  if (distances.empty()) return 1;
  const auto middle = distances.begin() + std::ptrdiff_t(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

}  // namespace

void Blocks::add_loss(double value) {
  if (std::isnan(value)) {
    gaps.push_back(loss.size());
    loss.push_back(loss.back());
    return;
  }
  std::size_t known = loss.size();  // the block after the last known one
  for (auto gap = gaps.rbegin(); gap != gaps.rend() && *gap + 1 == known; ++gap) --known;
  const double before = known ? loss[known - 1] : value, steps = double(loss.size() - known + 1);
  for (std::size_t i = known; i < loss.size(); ++i)
    loss[i] = before + (value - before) * double(i - known + 1) / steps;
  loss.push_back(value);
}

TrainingLog::TrainingLog(std::int64_t length, std::int64_t skip) : skip_(skip), rates_(length) {
  require(length >= 1, "TrainingLog: a block has " + std::to_string(length) + " steps, but needs 1 or more");
  require(skip >= 0, "TrainingLog: skip is " + std::to_string(skip) + ", but cannot be negative");
  blocks_.length = length;
}

void TrainingLog::append(const LogRow& row) {
  require(row.step >= 0, "TrainingLog: step " + std::to_string(row.step) + " is negative");
  require(!(row.rate < 0) && !std::isinf(row.rate),
          "TrainingLog: the rate of step " + std::to_string(row.step) + " is " + number_text(row.rate) +
              "; rates are 0 or positive, and finite");
  if (!rows_.empty() && row.step <= rows_.back().step) go_back_before(row.step);
  const std::int64_t gap = rows_.empty() ? 0 : row.step - rows_.back().step - 1;
  require(gap / blocks_.length <= longest_gap,
          "TrainingLog: the step goes from " + std::to_string(last_step()) + " to " +
              std::to_string(row.step) + ", more than " + std::to_string(longest_gap) + " blocks of " +
              std::to_string(blocks_.length) + " steps; give blocks more steps");
  take(row);
}

void TrainingLog::take(const LogRow& row) {
  if (!std::isnan(row.rate)) rate_ = row.rate;
  std::int64_t step = rows_.empty() ? row.step - 1 : rows_.back().step;
  if (rows_.empty()) rates_.skip(rate_, std::max<std::int64_t>(step, 0));
  rows_.push_back(row);
  const auto pass_to = [&](std::int64_t last) {
    while (step < last) {
      const bool skips = skipped_ < skip_;
      const std::int64_t n = std::min(last - step, skips ? skip_ - skipped_ : blocks_.length - rates_.open());
      step += n;
      if (skips)
        rates_.skip(rate_, n), skipped_ += n;
      else
        rates_.add(rate_, n, blocks_);
      if (blocks_.rate.size() > blocks_.loss.size()) close_block(step);
    }
  };
  pass_to(row.step - 1);
  if (std::isinf(row.loss)) {
    ++bad_losses_;
    if (!diverged_since_) diverged_since_ = row.step;
  } else if (!std::isnan(row.loss)) {
    diverged_since_.reset();
  }
  if (std::isfinite(row.averaged)) averaged_ = row.averaged;
  if (skipped_ == skip_) loss_.add(row.loss), gradient_norm_.add(row.gradient_norm);
  pass_to(row.step);
}

void TrainingLog::close_block(std::int64_t step) {
  const double loss = loss_.close(), gradient_norm = gradient_norm_.close_or_last();
  if (std::isnan(loss) && blocks_.loss.empty()) {  // blocks begin with the first loss that is known
    blocks_.rate.pop_back(), blocks_.slope.pop_back(), blocks_.sum.pop_back();
    return;
  }
  blocks_.add_loss(loss);
  blocks_.gradient_norm.push_back(gradient_norm);
  blocks_.averaged.push_back(averaged_);
  blocks_.end = step;
}

void TrainingLog::go_back_before(std::int64_t step) {
  TrainingLog kept(blocks_.length, skip_);
  for (const LogRow& row : rows_)
    if (row.step < step) kept.take(row);
  kept.blocks_.restarts = blocks_.restarts + 1;
  kept.notes_ = std::move(notes_);
  *this = std::move(kept);
}

TrainingLog log_of(std::span<const LogRow> rows, std::int64_t length) {
  std::vector<LogRow> kept;
  for (const LogRow& row : rows) {
    while (!kept.empty() && kept.back().step >= row.step) kept.pop_back();
    kept.push_back(row);
  }
  const std::int64_t distance = usual_distance(kept);
  require(distance <= farthest,
          "TrainingLog: rows are usually " + std::to_string(distance) + " steps apart, and may be " +
              std::to_string(farthest) +
              " at most; steps that count tokens or samples must be divided by those of an "
              "update");
  const std::int64_t steps = kept.empty() ? 0 : kept.back().step - kept.front().step + 1;
  if (!length) {
    const std::int64_t least = std::max<std::int64_t>(10, (steps + most_blocks - 1) / most_blocks);
    length = (least + distance - 1) / distance * distance;
  }
  TrainingLog log(length, length > 0 ? steps % length : 0);
  for (const LogRow& row : kept) log.append(row);
  return log;
}

}  // namespace kolmo::predict
