#include <iostream>

#include "kolmo/monitor/server.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"

int main() {
  const kolmo::monitor::Server server("127.0.0.1:0");
  std::cout << "metrics at " << server.url() << '\n';

  std::vector<float> x(1000, 1), y(1000, 2), z(1000);
  kolmo::Stream stream;
  for (int i = 0; i < 100; ++i)
    kolmo::vector_add({.x = kolmo::tensor(x.data(), {1000}),
                       .y = kolmo::tensor(y.data(), {1000}),
                       .z = kolmo::tensor(z.data(), {1000})},
                      stream);

  const std::string metrics = kolmo::monitor::fetch(server.url(), "/metrics");
  return metrics.find("kolmo_kernel_launches_total{device=\"cpu\",kernel=\"vector_add\"} 100\n") ==
         std::string::npos;
}
