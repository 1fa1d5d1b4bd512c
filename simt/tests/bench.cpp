// Measures the overhead of the emulator: processor time (sum over cores) of each kernel, barrier and shuffle.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "device_memory.hpp"
#include "kernels.hpp"

using namespace emulated;

namespace {

double core_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class F>
double best_of_seven(double (*now)(), F f) {
  f();
  double best = 1e9;
  for (int i = 0; i < 7; ++i) {
    const double start = now();
    f();
    best = std::min(best, now() - start);
  }
  return best;
}

template <class F>
void speed(const char* name, double threads, F f) {
  const double seconds = best_of_seven(core_seconds, f);
  std::printf("%-34s %8.2f ms %8.3f million threads per core and second\n", name, seconds * 1e3,
              threads / seconds * 1e-6);
}

}  // namespace

int main() {
  const int n = 1 << 20;
  DeviceArray<float> x(n, 0.5f), y(n, 0.25f), z(n), sums(64);
  DeviceArray<std::uint16_t> h(256 * 256);
  DeviceArray<unsigned> counts(64);
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i * 7 % 64;
  DeviceArray<int> v(values), out(n);

  speed("empty threads, block 256", n, [&] { run_empty(out.data(), n / 256, 256); });
  speed("axpy, 4 elements per thread", n / 4, [&] { axpy(x.data(), y.data(), 2.5f, n); });
  speed("softmax 256x1024, block 256", 65536, [&] { softmax(x.data(), y.data(), 256, 1024, 256); });
  speed("scan 64x1024, block 1024", 65536, [&] { scan(x.data(), y.data(), 64); });
  speed("tiled matmul 256x256x256", 65536, [&] { matmul(x.data(), y.data(), z.data(), 256, 256, 256); });
  speed("WMMA 64x64x64", 512, [&] { multiply_half(h.data(), h.data(), z.data(), 64, 64, 64); });
  speed("histogram, 16 elements per thread", 65536,
        [&] { histogram(v.data(), counts.data(), sums.data(), n, 64, 256); });
  for (const int threads : {32, 256, 1024}) {
    const int blocks = 32, times = 64;
    const double events = 1e-9 * blocks * threads * times;
    const double barrier =
        best_of_seven(core_seconds, [&] { run_barriers(out.data(), times, blocks, threads); });
    const double shuffle =
        best_of_seven(core_seconds, [&] { run_shuffles(out.data(), times, blocks, threads); });
    std::printf("block of %-4d  %8.1f ns per thread and barrier %8.1f ns per thread and shuffle\n", threads,
                barrier / events, shuffle / events);
  }
  const double launch = best_of_seven(wall_seconds, [&] {
    for (int i = 0; i < 100; ++i) run_empty(out.data(), 1, 32);
  });
  std::printf("launch of one block of 32: %.1f us of wall time\n", launch / 100 * 1e6);
}
