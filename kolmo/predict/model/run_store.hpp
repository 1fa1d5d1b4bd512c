#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kolmo/predict/model/world_model.hpp"

namespace kolmo::predict {

/// A training of the past.
struct PastRun {
  std::string name;
  Blocks blocks;
};

/// Whether something can be learned from a run: it has 20 blocks, and all losses are positive and finite.
bool teaches(const PastRun& run);

/// A folder of past trainings and the world model that has learned from them, which any number of processes may read and write at
/// once, without locks:
///   FOLDER/v1/model.kolmo, FOLDER/v1/runs/SHA256.kolmo
/// A file appears complete or not at all, and the last writer wins. At most 512 runs are kept, the ones added last. A file
/// that is damaged, or from another version, is left out and named in warnings(); so is a model that is not there. Forecasts are then
/// made without it.
class RunStore {
 public:
  static constexpr std::size_t most_runs = 512;

  /// Reads what is in the folder. Throws InvalidArgument if it is not there, or is no folder.
  static RunStore open(const std::string& folder);

  /// In the order of their names.
  const std::vector<PastRun>& runs() const { return runs_; }
  /// Null if there is none that can be used.
  std::shared_ptr<const WorldModel> model() const { return model_; }
  /// Names the runs on which the model was trained: "64 runs, 2026-11-29"; empty without a model.
  const std::string& model_source() const { return source_; }
  /// The files that could not be read, and why, each a sentence that names the file.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<PastRun> runs_;
  std::shared_ptr<const WorldModel> model_;
  std::string source_;
  std::vector<std::string> warnings_;
};

/// The result of train_store().
struct TrainedStore {
  std::shared_ptr<const WorldModel> model;
  std::size_t runs = 0;  ///< that the model was trained on
  std::vector<std::string>
      left_out;  ///< runs that teach nothing, and files that cannot be read, each with the reason
};

/// Adds trainings to the store in `folder`, which is made if it is not there, and trains its world model on all runs in it. A run that
/// is there already is not added twice; of runs with fewer than 20 blocks, or a loss that is not positive and finite, nothing
/// is learned. Throws InvalidArgument if no run is left, or the folder is not writable, and DeviceError if the disk is full; the
/// previous model is then still there.
TrainedStore train_store(const std::vector<PastRun>& runs, const std::string& folder,
                         const TrainingOptions& options = {});

}  // namespace kolmo::predict
