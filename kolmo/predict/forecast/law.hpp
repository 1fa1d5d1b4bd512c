#pragma once
#include <cstddef>
#include <vector>

#include "kolmo/predict/forecast/forecaster.hpp"

namespace kolmo::predict {

/// What is known of the gain of a decay before a run has shown one: by how much the loss falls, as a share of it, when the rate falls
/// to 0. The usual values are those of trainings of an MLP, a CNN and a GPT: median .11, and 3 to 16 % for nine of ten.
struct GainPrior {
  double median = .11, low = .03, high = .16;
  /// The width of the prior as a standard deviation.
  double deviation() const { return (high - low) / (2 * 1.6448536269514722); }
  friend bool operator==(const GainPrior&, const GainPrior&) = default;
};

/// The lag law of a loss, fitted to a run:
///   L_t = floor + amplitude (S_t / S)^-exponent + gain lag_tau(rate)_t / peak
/// S_t is the sum of rates up to step t, S that up to the last block, lag_tau an exponential average with a memory of tau steps, peak
/// the highest rate. The losses of blocks are means over their steps, and so are the terms. Until the rate has first reached its peak,
/// it counts as the peak in lag_tau, because a rate that warms up is no decay. All of floor, amplitude and gain are >= 0.
/// Source: Tissue et al. 2024 (arXiv 2408.11029), whose momentum law this is with lambda = exp(-1 / tau).
struct Law {
  double floor = 0, amplitude = 0, exponent = 1, gain = 0, tau = 15;
  double sum = 1, peak = 1;
  double noise = 0;           ///< standard deviation of the relative residuals
  double gain_deviation = 0;  ///< what is unknown of `gain`
  double gain_known = 0;      ///< 0: the rates say nothing of the gain; 1: its prior does not count any more
  double bias = 0;            ///< of the newest blocks: the law less the loss
  double lag = 1;             ///< lag_tau / peak after the last block
  bool gain_of_loss = false;  ///< the rate was constant: the gain is the prior's share of the loss that comes

  /// The share of the loss that the lag of the rate adds in each block seen, as a difference of logs from what it would add if the lag
  /// had been as it is after the last block.
  std::vector<double> lag_effects{};

  /// The loss of each planned block, and how uncertain it is for what is unknown of the gain, as standard deviations.
  struct Future {
    std::vector<double> loss, gain_deviation;
    std::vector<double> lag_effect;  ///< as of the blocks seen

    /// The logarithms of the losses, none of which counts as less than 1/50 of the last one seen.
    std::vector<double> logs(double last) const;
  };
  /// lag_tau / peak of each planned block.
  std::vector<double> lags(const RateBlocks& planned, std::int64_t length) const;
  Future after(const RateBlocks& planned, std::int64_t length) const;
};

/// Which terms a law has: without a lag it is a power law of the sum of rates.
enum class LawTerms : std::int32_t { power, lag };

/// Fits the law to the last four fifths of S by variable projection: a grid over exponent and tau, then Gauss-Newton steps; floor,
/// amplitude and gain follow by non-negative least squares of the relative residuals, with Huber's weights, and the prior of the gain
/// as one more observation. Blocks are joined to at most 128 points. `seen` has 4 blocks or more.
Law fit_law(const Seen& seen, LawTerms terms, const GainPrior& prior = {});

}  // namespace kolmo::predict
