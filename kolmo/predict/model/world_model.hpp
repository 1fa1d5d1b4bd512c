#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kolmo/predict/forecast/forecaster.hpp"
#include "kolmo/predict/model/likeness.hpp"
#include "kolmo/predict/model/train.hpp"

namespace kolmo::predict {

/// An error of a forecast of a training that the forecaster had not learned from: of the logarithm of the loss, measured minus
/// predicted; and its unit, see error_unit().
struct Residual {
  float error, unit;
};
/// residuals[i] are the errors i + 1 blocks ahead.
using Residuals = std::vector<std::vector<Residual>>;

/// An ensemble of recurrent networks that have learned from earlier trainings how the loss goes on under a planned rate. A member
/// reads the last 48 blocks, and then runs ahead on its own predictions. The forecast lies between the mean over the members and the lag
/// law of the training itself, the closer to the law the more the members differ, as they do on a training unlike those of the past:
///   centre_h = law_h + w_h (mean_h - law_h);  w_h = D_h / (D_h + 8 V_h)
/// D_h is the sum over the blocks up to h of (mean - law)^2, V_h that of the variance of the members. On a training unlike those of the
/// past w_h is half of that. The spread is the deviation of the members.
class WorldModel final : public Forecaster {
 public:
  /// Trains on the blocks of trainings whose losses are positive. Throws InvalidArgument if none has 20 blocks, and for options that
  /// cannot be. Same bits whatever the number of threads.
  static WorldModel train(std::span<const Blocks* const> runs, const TrainingOptions& options = {});
  /// Takes parameters that train() has found: for each member MemberSizes::count() of them. Throws InvalidArgument if they are not
  /// of this size, or not finite.
  WorldModel(int hidden, std::vector<std::vector<float>> members, Residuals residuals,
             Likeness likeness = {});

  std::string_view name() const override { return "recurrent_ensemble"; }
  std::size_t least() const override { return 10; }
  bool knows_rates() const override { return true; }
  bool learned_gain() const override { return true; }
  bool unlike(const Seen& seen) const override { return likeness_.unlike(seen); }
  Prediction predict(const Seen& seen, const RateBlocks& planned) const override;
  /// Returns the prediction of each member for each of several plans of the same length: [plan][member][block], logarithms of losses.
  std::vector<std::vector<std::vector<double>>> rollouts(const Seen& seen,
                                                         std::span<const RateBlocks> plans) const;

  int hidden() const { return sizes_.hidden; }
  const std::vector<std::vector<float>>& members() const { return members_; }
  /// Its errors on its own training runs, each forecast by members that were trained on the other half of them, up to `ahead` blocks:
  /// first those of runs 0, 2, ..., then of runs 1, 3, ..., from origins least(), and then max(5, blocks / 16) apart.
  const Residuals& residuals() const { return residuals_; }
  /// Of a training to its training runs.
  const Likeness& likeness() const { return likeness_; }

 private:
  MemberSizes sizes_;
  std::vector<std::vector<float>> members_;
  Residuals residuals_;
  Likeness likeness_;
};

/// Returns the prediction of a member for `plans` of the same length: [plan][block], logarithms of losses. Float or double.
template <class T>
std::vector<std::vector<double>> roll_out(const Member<T>& member, const Seen& seen,
                                          std::span<const RateBlocks> plans);

}  // namespace kolmo::predict
