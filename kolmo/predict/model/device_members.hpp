#pragma once
#include <vector>

#include "kolmo/predict/model/inputs.hpp"
#include "kolmo/predict/model/train.hpp"

namespace kolmo::predict {

/// An update of a member: the windows that it learns from, the block up to which they are read, and the rate.
struct Update {
  std::vector<Windows::Window> places;
  int start;
  double rate;
};

/// Trains members side by side on options.device by two operators, world_model_gradient and adamw_step, from their first parameters.
/// courses[member] are its updates; all members have as many, with equal rates and numbers of windows. The host queues them all, and
/// waits once, for the parameters that it returns. An update is that of Tape and AdamW (train.cpp) but for the order of sums.
/// Float or double.
template <class T>
std::vector<std::vector<T>> train_on_device(const Windows& windows, const TrainingOptions& options,
                                            std::vector<std::vector<T>> parameters,
                                            const std::vector<std::vector<Update>>& courses);

}  // namespace kolmo::predict
