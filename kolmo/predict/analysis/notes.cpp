#include <algorithm>
#include <cmath>
#include <string>

#include "kolmo/base/number_text.hpp"
#include "kolmo/predict/analysis/forecast.hpp"
#include "kolmo/predict/decide/decision.hpp"
#include "kolmo/predict/forecast/calibrator.hpp"

namespace kolmo::predict {
namespace {

constexpr double farthest = 8;  // noises by which the last block may lie above the blocks before it
constexpr std::size_t before = 5;

/// Returns the loss of the last block as a multiple of the median of the blocks before it, if it lies far above their noise, and 0 otherwise.
double spike(const Blocks& blocks) {
  const std::size_t last = blocks.loss.size() - 1;
  std::vector<double> others;
  for (std::size_t i = last; i-- > 0 && others.size() < before;)
    if (blocks.knows(i)) others.push_back(blocks.loss[i]);
  if (!blocks.knows(last) || others.size() < before) return 0;
  std::nth_element(others.begin(), others.begin() + before / 2, others.end());
  const double times = blocks.loss[last] / others[before / 2];
  return times > 0 && std::log(times) > farthest * noise_of({blocks, last}) ? times : 0;
}

}  // namespace

RecentLoss recent_loss(const TrainingLog& log) {
  const std::vector<double>& loss = log.blocks().loss;
  const std::size_t count =
      std::min(loss.size(), blocks_that_count(decision_stride(log.steps(), log.length()), log.length()));
  double sum = 0;
  for (std::size_t i = loss.size() - count; i < loss.size(); ++i) sum += loss[i];
  return {std::int64_t(count) * log.length(), sum / double(count)};
}

std::vector<std::string> notes_of(const TrainingLog& log) {
  std::vector<std::string> notes;
  const std::vector<LogRow>& rows = log.rows();
  const Blocks& blocks = log.blocks();
  if (std::all_of(rows.begin(), rows.end(), [](const LogRow& row) { return std::isnan(row.rate); }))
    notes.emplace_back("the log has no rates, which are taken to be constant");
  notes.insert(notes.end(), log.notes().begin(), log.notes().end());
  if (!blocks.gaps.empty())
    notes.push_back(std::to_string(blocks.gaps.size()) + " of " + std::to_string(blocks.loss.size()) +
                    " blocks of " + std::to_string(log.length()) +
                    " steps have no loss; nothing is fitted to them, and forecasts of them are not scored");
  const auto not_positive = [](const LogRow& row) { return row.loss <= 0; };
  if (const auto first = std::find_if(rows.begin(), rows.end(), not_positive); first != rows.end())
    notes.push_back(
        "losses that are not positive: " + std::to_string(std::count_if(first, rows.end(), not_positive)) +
        ", the first at step " + std::to_string(first->step) +
        "; forecasts are of the logarithm of the mean over a block");
  if (log.bad_losses())
    notes.push_back(std::to_string(log.bad_losses()) +
                    " steps have a loss that is no finite number; they count as unknown");
  if (const double times = spike(blocks))
    notes.push_back(
        "the loss of the last " + std::to_string(log.length()) + " steps is " + significant_text(times, 3) +
        " times that of the blocks before, far outside their noise; if it is a spike, forecasts after "
        "the next blocks are better");
  return notes;
}

}  // namespace kolmo::predict
