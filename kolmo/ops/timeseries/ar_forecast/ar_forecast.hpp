#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

enum class ArFit : std::int32_t { yule_walker, burg, given };
inline constexpr std::string_view ar_fit_names[] = {"yule_walker", "burg", "given"};
constexpr std::span<const std::string_view> names_of(ArFit) { return ar_fit_names; }

struct ArForecastArgs {
  In x;
  OptIn model;
  Out forecast, variance, coefficients, noise_variance;
  OptOut lower, upper;
  std::int64_t order = 1, horizon = 1;
  ArFit fit = ArFit::yule_walker;
  bool keep_mean = false;
  double level = 0.95;

  static constexpr auto fields() {
    using A = ArForecastArgs;
    constexpr DTypes f64 = DTypes::of(DType::f64);
    return std::array{
        field<&A::x>("x", "... n", reals, "series, evenly sampled, the newest sample last"),
        field<&A::model>("model", "...? order", reals, "with fit given: coefficients phi_1, phi_2, ..."),
        field<&A::forecast>("forecast", "... horizon", f64, "expected values of the next samples"),
        field<&A::variance>("variance", "... horizon", f64, "variances of their errors"),
        field<&A::coefficients>("coefficients", "... order", f64, "phi_1, phi_2, ..."),
        field<&A::noise_variance>("noise_variance", "...", f64, "sigma^2, variance of the innovations"),
        field<&A::lower>("lower", "... horizon", f64, "lower ends of the prediction intervals"),
        field<&A::upper>("upper", "... horizon", f64, "upper ends of the prediction intervals"),
        option<&A::order>("order", 1, 4096, "p, number of past samples in the model"),
        option<&A::horizon>("horizon", 1, 1'000'000, "number of samples that are forecast"),
        option<&A::fit>("fit", "how the coefficients are found"),
        option<&A::keep_mean>("keep_mean", "take the mean as 0 instead of subtracting that of the series"),
        option<&A::level>("level", 0.0, 1 - 0x1p-40, "probability of a prediction interval"),
    };
  }
};

/// Fits an autoregressive model x_t - mu = sum_i phi_i (x_(t-i) - mu) + e_t, i = 1 ... p, to each series of n > p
/// samples and forecasts its next samples:
///   yule_walker  from autocovariances r_k = (1/n) sum_t x_t x_(t+k) by Levinson's recursion
///   burg         reflection coefficients that minimise forward and backward errors; sigma^2 is half their mean square,
///                over the n - p samples that have p before or behind them
///   given        phi is `model`; sigma^2 is the mean square of its errors in the series
///   forecast_h = mu + sum_i phi_i (forecast_(h-i) - mu), past values for h - i <= 0
///   variance_h = sigma^2 sum over j < h of psi_j^2,  psi_0 = 1, psi_j = sum_i phi_i psi_(j-i)
/// The interval is forecast_h +- z sqrt(variance_h), z the two-sided normal quantile of `level`; the error of the
/// estimates themselves is not in it. A constant series has phi = 0 and sigma = 0. Computed in double. Same bits
/// from run to run.
/// Sources: Box & Jenkins 1970; Burg 1975; Brockwell & Davis, Time Series, 1991.
extern const Op<ArForecastArgs> ar_forecast;

}  // namespace kolmo
