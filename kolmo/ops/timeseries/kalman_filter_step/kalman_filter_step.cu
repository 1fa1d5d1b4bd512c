#include "kolmo/ops/timeseries/kalman_filter_step/kalman.hpp"
#include "kolmo/skeleton/each_team.cuh"

namespace kolmo {

extern constinit const Impl<KalmanFilterStepArgs> kalman_filter_step_cuda = cuda::each_team<KalmanFilters>();

}  // namespace kolmo
