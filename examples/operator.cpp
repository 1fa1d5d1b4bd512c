#include <cstdio>
#include <vector>

#include "kolmo/ops/elementwise/binary/binary.hpp"

int main() {
  std::vector<float> x{1, 2, 3}, y{10, 20, 30}, z(3);
  kolmo::Stream stream;  // the CPU
  kolmo::vector_add({.x = kolmo::tensor(x.data(), {3}),
                     .y = kolmo::tensor(y.data(), {3}),
                     .z = kolmo::tensor(z.data(), {3})},
                    stream);
  stream.synchronize();
  std::printf("%g %g %g\n", z[0], z[1], z[2]);
  return z[2] == 33 ? 0 : 1;
}
