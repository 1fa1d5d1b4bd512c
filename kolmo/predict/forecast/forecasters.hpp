#pragma once
#include <memory>
#include <vector>

#include "kolmo/predict/forecast/forecaster.hpp"
#include "kolmo/predict/forecast/law.hpp"

namespace kolmo::predict {

/// The forecasters that need nothing but the log. A row of the table in forecasters.cpp adds one:
///   persistence   the mean of the last two blocks
///   local_linear  damped local linear trend of log loss (Holt): level .45, trend .15, damping .93
///   autoregressive  AR(3) with a constant on the differences of log loss of the last 100 blocks, by ar_forecast
///   power_law     floor + amplitude S^-exponent, of the last four fifths of the sum of rates S
///   lag_law       the same and a term of the lagged rate, see Law
///   averaged_weights  the power law, which during a decay goes over to what averaged weights reach: the curve of the losses of
///                 averaged weights, if the log has them
///   lag_law_and_trend  mean of lag_law and local_linear
std::vector<std::unique_ptr<Forecaster>> simple_forecasters(const GainPrior& prior = {});

}  // namespace kolmo::predict
