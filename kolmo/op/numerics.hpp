#pragma once
#include <atomic>
#include <string>

#include "kolmo/op/define.hpp"

/// `--check-numerics`: an operator whose inputs are finite and that produces a NaN or an infinity is stopped,
/// with its name, the argument, the first such element and the shapes. An overflow is reported too: exp of 1000,
/// 70000 as f16, a sum beyond the largest number. Infinities of outputs declared may_be_infinite() pass. For
/// debugging, not for production: on a GPU every tensor is copied to the host and every launch is waited for.
/// Launches captured into a CUDA graph, and its replays, are not checked; replays on the CPU are.
namespace kolmo::numerics {

struct NonFinite : Error {
  using Error::Error;
};

inline std::atomic<bool> checked{false};

/// The position of the first NaN or infinity among the inputs, such as "y[0, 3] is NaN"; empty if there is
/// none.
std::string first_input(const OpBase& op, const void* args, Stream& stream);
/// Throws NonFinite if an output holds a NaN, or an infinity that it is not declared to hold.
void check_outputs(const OpBase& op, const void* args, Stream& stream);

}  // namespace kolmo::numerics
