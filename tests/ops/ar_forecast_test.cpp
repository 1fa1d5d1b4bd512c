// Forecasts by least squares are those of statsmodels 0.15.0 on its data set macrodata (examples/data):
//   w = numpy.diff(x, d); r = AutoReg(w, p, trend="c" or "n").fit(); r.params; r.get_prediction(len(w), len(w) + 7)
// Forecasts of differences are summed up from the last value, and standard errors are sqrt(r.sigma2 sum psi^2) with
// psi = arma2ma([1, -phi], [1], 8), summed up alike; without differences these are its `se_mean`.
#include "kolmo/ops/timeseries/ar_forecast/ar_forecast.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kolmo/io/table.hpp"
#include "tests/paths.hpp"

namespace kolmo {
namespace {

struct Golden {
  const char* column;
  ArTrend trend;
  std::int64_t difference;
  double constant;
  std::vector<double> phi, forecast, error;
};

const Golden golden[] = {
    {"realgdp",
     ArTrend::constant,
     0,
     17.55486882,
     {1.342478195, -0.1416408293, -0.2736745509, 0.07422746271},
     {13067.56027, 13149.114, 13221.57378, 13292.75932, 13361.4737, 13429.8616, 13497.83495, 13565.87971},
     {53.55728789, 89.65444727, 126.2846653, 157.7611541, 186.0603011, 211.2431218, 234.1619932,
      255.2112668}},
    {"realgdp",
     ArTrend::constant,
     1,
     23.70846368,
     {0.3492546506, 0.1918313976, -0.0808100502, 0.07589530467},
     {13044.12191, 13089.15508, 13129.91518, 13178.89435, 13227.97067, 13278.33899, 13328.18869, 13378.72105},
     {53.66038056, 90.11890065, 126.8279054, 158.0918499, 188.1216099, 215.7634544, 241.8543594,
      266.1163847}},
    {"unemp",
     ArTrend::none,
     0,
     0,
     {1.74914922, -0.8690423019, 0.11916834},
     {9.761906893, 9.828574462, 9.852149385, 9.854742681, 9.846735802, 9.833286276, 9.817028402, 9.799324997},
     {0.2518492728, 0.5074324119, 0.7495522072, 0.9677488716, 1.162324784, 1.336562627, 1.494037481,
      1.637837331}},
    {"cpi",
     ArTrend::constant,
     2,
     0.0142479204,
     {-0.5117811219, -0.3715899874},
     {217.7714192, 219.3992681, 221.1145927, 222.709684, 224.3480512, 226.0231961, 227.6776858, 229.3433282},
     {0.8556430556, 1.534155216, 2.214713835, 3.074101618, 4.022044262, 5.026215461, 6.115122791,
      7.275843784}},
};

TEST(ArForecast, IsThatOfStatsmodels) {
  constexpr double digits = 3e-9, quantile = 1.9599639845400545;  // printed with ten digits
  const Table table = read_table(source_dir() / "examples/data/macrodata.csv");
  for (const Golden& g : golden) {
    SCOPED_TRACE(g.column);
    std::vector<double> x = table.columns[select_columns(table, g.column)[0]];
    const auto order = std::int64_t(g.phi.size()), horizon = std::int64_t(g.forecast.size());
    for (const Device device : {Device{}, Device{DeviceKind::simt}}) {
      if (!available(device)) continue;
      std::vector<double> forecast(8), variance(8), upper(8), phi(g.phi.size());
      double constant = 0, noise = 0;
      Stream stream(device);
      ar_forecast({.x = tensor(x.data(), {std::int64_t(x.size())}, device),
                   .forecast = tensor(forecast.data(), {horizon}, device),
                   .variance = tensor(variance.data(), {horizon}, device),
                   .coefficients = tensor(phi.data(), {order}, device),
                   .noise_variance = tensor(&noise, {}, device),
                   .upper = tensor(upper.data(), {horizon}, device),
                   .constant = tensor(&constant, {}, device),
                   .order = order,
                   .horizon = horizon,
                   .trend = g.trend,
                   .difference = g.difference},
                  stream);
      stream.synchronize();
      EXPECT_NEAR(constant, g.constant, 1e-8);
      for (std::size_t i = 0; i < g.phi.size(); ++i) EXPECT_NEAR(phi[i], g.phi[i], 1e-8);
      for (std::size_t h = 0; h < 8; ++h) {
        EXPECT_NEAR(forecast[h], g.forecast[h], digits * g.forecast[h]);
        EXPECT_NEAR(std::sqrt(variance[h]), g.error[h], digits * g.error[h]);
        EXPECT_NEAR(upper[h], g.forecast[h] + quantile * g.error[h], digits * g.forecast[h]);
      }
    }
  }
}

}  // namespace
}  // namespace kolmo
