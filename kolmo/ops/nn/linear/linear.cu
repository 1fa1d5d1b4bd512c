#include "kolmo/ops/nn/linear/linear_steps.hpp"

namespace kolmo {

extern constinit const Impl<LinearArgs> linear_cuda{linear_code};

}  // namespace kolmo
