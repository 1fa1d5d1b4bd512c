#pragma once
#include <atomic>

#include "kolmo/op/define.hpp"

namespace kolmo {

/// How to run a call, and the id under which monitor::on_timed reports its time; 0: no timing report wanted.
struct Chosen {
  RunOptions options;
  std::uint64_t call = 0;
};

/// Called by run() for calls that specify neither variant nor threads. run() takes the default if this is
/// null or if its answer does not fit the arguments. Set by kolmo/tune.
using Chooser = Chosen (*)(const OpBase& op, const void* args, Device device, int threads);
inline constinit std::atomic<Chooser> chooser{nullptr};

}  // namespace kolmo
