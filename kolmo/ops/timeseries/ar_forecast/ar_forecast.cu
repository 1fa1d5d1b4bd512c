#include "kolmo/ops/timeseries/ar_forecast/autoregression.hpp"
#include "kolmo/skeleton/each_team.cuh"

namespace kolmo {

extern constinit const Impl<ArForecastArgs> ar_forecast_cuda = cuda::each_team<Autoregressions>();

}  // namespace kolmo
