// core_speed measures how many dependent exclusive ors a core does in a nanosecond of processor time. That is
// its clock in GHz if it has the core for itself, and less if a virtual machine shares the core without
// saying so. Additions of a constant would not do: some cores do several of these in a cycle, as they rename
// registers.
#include <cstdio>
#include <ctime>

int main() {
  constexpr long steps = 40'000'000, each = 8;
  unsigned long value = 1, other = 3;
  asm volatile("" : "+r"(other));
  const std::clock_t begin = std::clock();
  for (long i = 0; i < steps; i += each)
    for (int j = 0; j < each; ++j) {
      value ^= other;
      asm volatile("" : "+r"(value));  // every step waits for the one before
    }
  const double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%.3f\n", 1e-9 * double(steps) / seconds);
}
