#include "bench/pipeline_by_hand.hpp"

namespace kolmo::bench {

double pipeline_by_hand(int, std::size_t, int, int, int) { fail<Unsupported>("this build has no CUDA"); }

}  // namespace kolmo::bench
