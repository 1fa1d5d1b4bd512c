#include "kolmo/tune/occupancy.hpp"

#include <cstdio>

int main() {
  const kolmo::tune::Multiprocessor& hopper = kolmo::tune::multiprocessor("9.0");
  const kolmo::tune::Occupancy o =
      kolmo::tune::occupancy(hopper, {.threads = 256, .registers = 48, .shared = 8448});
  const int saved = o.one_more_block.registers;  // with 8 registers less a sixth block fits
  const int threads =
      kolmo::tune::suggested_threads(hopper, {.registers = 48});  // the occupancy API's choice
  std::printf("%d blocks, %.1f %%; %d fewer registers make room for one more; %d threads fill best\n",
              o.blocks, 100 * o.ratio, saved, threads);
  return o.blocks == 5 && saved == 8 ? 0 : 1;
}
