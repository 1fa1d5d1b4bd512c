#include <cstdio>

#include "kolmo/flow/analysis/network_analysis.hpp"
#include "kolmo/flow/request/settle.hpp"
#include "kolmo/runtime/device.hpp"

int main() {
  kolmo::NetworkRequest request;  // the options of `kolmo network`, with its defaults
  request.columns.text = "realgdp,realcons,realinv,unemp";
  request.preparation.transform = kolmo::Transform::log_difference;
  request.method = kolmo::NetworkMethod::multivariate;
  request.max_lag = 4;
  kolmo::Session session(kolmo::read_table("examples/data/macrodata.csv"));
  kolmo::NetworkAnalysis analysis(kolmo::settled(request), session);
  kolmo::Stream stream(kolmo::parse_device("auto"));
  for (const kolmo::LinkResult& link : analysis.infer(stream, nullptr).links)
    if (link.significant)
      std::printf("%s -> %s: %.3f nats at lag %d, p = %.3f\n", analysis.series().names[link.source].c_str(),
                  analysis.series().names[link.target].c_str(), link.value, int(link.lag), link.p_adjusted);
}
