// What the emulator costs: prints one row per kernel and per event.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>

#include "device_memory.hpp"
#include "kernels.hpp"
#include "simt/engine.hpp"

using namespace emulated;

namespace {

double best_of_five(const std::function<void()>& f) {
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  f();
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double start = now();
    f();
    best = std::min(best, now() - start);
  }
  return best;
}

void speed(const char* name, double threads, const std::function<void()>& f) {
  const double seconds = best_of_five(f);
  std::printf("%-42s %9.3f ms %8.3f million threads/s\n", name, seconds * 1e3, threads / seconds * 1e-6);
}

}  // namespace

int main() {
  const int n = 1 << 20;
  DeviceArray<float> x(n, 0.5f), y(n, 0.25f), z(n);
  speed("axpy, 4 elements per thread", n / 4, [&] { axpy(x.data(), y.data(), 2.5f, n); });
  speed("softmax 256x1024, block 256", 256 * 256, [&] { softmax(x.data(), y.data(), 256, 1024, 256); });
  speed("scan 64x1024, block 1024", 64 * 1024, [&] { scan(x.data(), y.data(), 64); });
  speed("tiled matmul 256x256x256", 256 * 256, [&] { matmul(x.data(), y.data(), z.data(), 256, 256, 256); });
  DeviceArray<std::uint16_t> h(256 * 256);
  speed("WMMA 64x64x64", 4 * 128, [&] { multiply_half(h.data(), h.data(), z.data(), 64, 64, 64); });
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i * 7 % 64;
  DeviceArray<int> v(values), out(n);
  DeviceArray<unsigned> counts(64);
  DeviceArray<float> sums(64);
  speed("histogram, 16 elements per thread", 65536,
        [&] { histogram(v.data(), counts.data(), sums.data(), n, 64, 256); });
  speed("empty threads, block 256", n, [&] { run_empty(out.data(), n / 256, 256); });
  const double launch = best_of_five([&] {
                          for (int i = 0; i < 100; ++i) run_empty(out.data(), 1, 32);
                        }) /
                        100;
  std::printf("%-42s %9.1f us\n", "launch of one block of 32", launch * 1e6);
  for (const int threads : {32, 256, 1024}) {
    const int blocks = 32, times = 64;
    const double events = static_cast<double>(blocks) * threads * times;
    const double cores = std::min<double>(simt::config().workers, blocks) * 1e9;
    const double barrier = best_of_five([&] { run_barriers(out.data(), times, blocks, threads); });
    const double shuffle = best_of_five([&] { run_shuffles(out.data(), times, blocks, threads); });
    std::printf(
        "block of %-4d  %8.1f ns per thread and barrier, %8.1f ns per thread and shuffle (core time)\n",
        threads, barrier * cores / events, shuffle * cores / events);
  }
}
