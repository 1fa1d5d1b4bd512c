#pragma once
#include <atomic>

#include "kolmo/op/op.hpp"

namespace kolmo {

/// How to run a call, and what monitor::on_timed shall call it; 0: it need not hear of it.
struct Chosen {
  RunOptions options;
  std::uint64_t call = 0;
};

/// Asked by run() how to run a call that names neither variant nor threads; the default when it is null, and
/// when its answer does not fit the arguments. Set by kolmo/tune.
using Chooser = Chosen (*)(const OpBase& op, const void* args, Device device, int threads);
inline constinit std::atomic<Chooser> chooser{nullptr};

}  // namespace kolmo
