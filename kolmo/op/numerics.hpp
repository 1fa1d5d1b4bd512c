#pragma once
#include <atomic>
#include <string>

#include "kolmo/op/op.hpp"

/// `--check-numerics`: an operator that is given only finite numbers and produces a NaN or an infinity is
/// stopped, with its name, the argument, the first such element and the shapes. For finding where bad numbers
/// come from, not for production: on a GPU every tensor is copied to the host and each launch waited for.
/// Launches that are being captured into a CUDA graph are not looked at, nor are its replays.
namespace kolmo::numerics {

struct NonFinite : Error {
  using Error::Error;
};

inline std::atomic<bool> checked{false};

/// Where the first NaN or infinity among the arguments of one direction is, such as "y[0, 3] is NaN"; empty
/// when there is none.
std::string first_input(const OpBase& op, const void* args, Stream& stream);
/// Throws NonFinite when an output holds one.
void check_outputs(const OpBase& op, const void* args, Stream& stream);

}  // namespace kolmo::numerics
