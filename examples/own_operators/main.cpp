#include <cstdio>

#include "kolmo/op/registry.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/version.hpp"

int main() {
  double x[] = {1, 2}, y[] = {10, 20}, z[2] = {};
  kolmo::Stream stream(kolmo::Device{});
  kolmo::vector_add({.x = kolmo::tensor(x, {2}), .y = kolmo::tensor(y, {2}), .z = kolmo::tensor(z, {2})},
                    stream);
  stream.synchronize();
  std::printf("kolmo %s: %zu operators, %g %g\n", std::string(kolmo::version()).c_str(),
              kolmo::all_ops().size(), z[0], z[1]);
  return z[0] == 11 && z[1] == 22 && kolmo::all_ops().size() > 0 ? 0 : 1;
}
