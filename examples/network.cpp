#include "kolmo/flow/infer/network.hpp"

#include <cstdio>

#include "kolmo/runtime/device.hpp"

int main() {
  const kolmo::Table table = kolmo::read_table("examples/data/macrodata.csv");
  const auto columns = kolmo::select_columns(table, "realgdp,realcons,realinv,unemp");
  const kolmo::Series series =
      kolmo::make_series(table, columns, {.transform = kolmo::Transform::log_difference});
  kolmo::NetworkOptions options{.variables = {0, 1, 2, 3}, .max_lag = 2};
  options.estimator.surrogates = 500;
  kolmo::Stream stream(kolmo::parse_device("auto"));
  for (const auto& link : kolmo::infer_network(series, options, stream, nullptr, nullptr).links)
    if (link.significant)
      std::printf("%s -> %s: %.3f nats at lag %d, p = %.3f\n", series.names[link.source].c_str(),
                  series.names[link.target].c_str(), link.value, int(link.lag), link.p_adjusted);
}
