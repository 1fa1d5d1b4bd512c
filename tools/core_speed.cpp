// core_speed: how many dependent additions a core does in a nanosecond of processor time: its clock in GHz where it has the
// core for itself, less where a virtual machine shares it without saying so.
#include <cstdio>
#include <ctime>

int main() {
  constexpr long additions = 40'000'000, each = 8;
  unsigned long sum = 1;
  const std::clock_t begin = std::clock();
  for (long i = 0; i < additions; i += each)
    for (int j = 0; j < each; ++j) {
      sum += 3;
      asm volatile("" : "+r"(sum));  // every addition waits for the one before
    }
  const double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%.3f\n", 1e-9 * double(additions) / seconds);
}
