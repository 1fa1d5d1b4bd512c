#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kolmo/predict/decide/history.hpp"
#include "kolmo/predict/forecast/law.hpp"
#include "kolmo/predict/model/run_store.hpp"

namespace kolmo::predict {

/// What the runs of a store say of forecasters, in runs that none of them had learned from: the world model's errors are those of members
/// trained on the other half of the runs. Every forecaster is calibrated by all errors, so that its centres count.
struct StoreStanding {
  struct Of {
    std::string forecaster;
    std::array<double, 3> crps{};  ///< of log loss at 1, 5 and 10 blocks, mean over runs
    double relative = 1;           ///< to that of persistence, mean over these horizons
    std::vector<std::vector<float>>
        errors;  ///< by horizon of standing_horizons(): in their unit, at most 500
  };
  std::vector<Of> forecasters;
  std::string best_simple;  ///< at 10 blocks
  /// CRPS of the world model less that of the best simple forecaster of each horizon: 95 % interval of a paired bootstrap over runs.
  std::array<std::array<double, 2>, 3> difference{};
  bool admitted = false;  ///< at 5 and 10 blocks the interval is below 0: the world model may drive
  static constexpr std::size_t fewest_decays = 5;
  GainPrior
      prior;  ///< from the runs that show what a decay gains; the usual one if there are fewer than fewest_decays
  std::size_t decays = 0;  ///< the number of these runs
  std::size_t runs = 0;

  const Of* find(std::string_view forecaster) const;
  std::string text() const;
  static StoreStanding parse(const std::string& text, const std::string& label);
};
const std::vector<std::size_t>& standing_horizons();

/// Judges the simple forecasters and the model of a store whose model was trained on its runs as they are.
StoreStanding judge(const RunStore& store);

/// The standing is kept beside the model: FOLDER/v1/standing.kolmo. Nothing if it is not there or cannot be used, for which `warnings`
/// then has a sentence.
void write_standing(const std::string& folder, const StoreStanding& standing);
std::optional<StoreStanding> read_standing(const std::string& folder, std::vector<std::string>& warnings);

/// The 95 % interval of the mean of values by bootstrap, with 2000 draws.
std::array<double, 2> bootstrap_mean(const std::vector<double>& values);

}  // namespace kolmo::predict
