#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

enum class ArFit : std::int32_t { least_squares, yule_walker, burg, given };
inline constexpr std::string_view ar_fit_names[] = {"least_squares", "yule_walker", "burg", "given"};
constexpr std::span<const std::string_view> names_of(ArFit) { return ar_fit_names; }

enum class ArTrend : std::int32_t { constant, none };
inline constexpr std::string_view ar_trend_names[] = {"constant", "none"};
constexpr std::span<const std::string_view> names_of(ArTrend) { return ar_trend_names; }

struct ArForecastArgs {
  In x;
  OptIn model;
  Out forecast, variance, coefficients, noise_variance;
  OptOut lower, upper, constant;
  std::int64_t order = 1, horizon = 1;
  ArFit fit = ArFit::least_squares;
  ArTrend trend = ArTrend::constant;
  std::int64_t difference = 0;
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
        field<&A::constant>("constant", "...", f64, "c, constant of the model"),
        option<&A::order>("order", 1, 4096, "p, number of past samples in the model"),
        option<&A::horizon>("horizon", 1, 1'000'000, "number of samples that are forecast"),
        option<&A::fit>("fit", "how the coefficients are found"),
        option<&A::trend>("trend", "whether the model has a constant c"),
        option<&A::difference>("difference", 0, 2, "d, how often neighbours are subtracted before the fit"),
        option<&A::level>("level", 0.0, 1 - 0x1p-40, "probability of a prediction interval"),
    };
  }
};

/// Fits an autoregressive model w_t = c + sum_i phi_i w_(t-i) + e_t, i = 1 ... p, to the m = n - d samples w of each
/// series after d differences, and forecasts the next samples of the series:
///   least_squares  c and phi with the least sum of e_t^2, t = p ... m-1, as AutoReg of statsmodels; needs m - p >= p + 1
///                  (p without a constant). phi_i = 0 if the i-th lag is, but for 2^-20 of its deviation from its mean
///                  (from 0 without a constant), a linear combination of the nearer lags
///   yule_walker    from autocovariances r_k = (1/m) sum_t w_t w_(t+k) by Levinson's recursion
///   burg           reflection coefficients that minimise forward and backward errors; sigma^2 is half their mean
///                  square, over the m - p samples that have p before or behind them
///   given          phi is `model`
/// With trend constant, all but least_squares first subtract mu, the mean of w, so that c = mu (1 - sum_i phi_i); with trend
/// none c = 0. sigma^2 of yule_walker is r_0 - sum_i phi_i r_i; that of least_squares and of a given model is the mean square
/// of the m - p errors.
///   forecast_h = c + sum_i phi_i forecast_(h-i), past values for h - i <= 0, summed up d times from the last samples
///   variance_h = sigma^2 sum over j < h of psi_j^2,  psi_0 = 1, psi_j = sum_i phi_i psi_(j-i), psi summed up d times
/// The interval is forecast_h +- z sqrt(variance_h), z the two-sided normal quantile of `level`; the error of the
/// estimates themselves is not in it. A constant series has phi = 0 and sigma = 0; least squares continue a straight
/// line. Computed in double. Same bits from run to run.
/// Sources: Box & Jenkins 1970; Burg 1975; Brockwell & Davis, Time Series, 1991.
extern const Op<ArForecastArgs> ar_forecast;

}  // namespace kolmo
