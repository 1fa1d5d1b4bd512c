// Compiled once per instruction set; the best supported one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/check/peaks.cpp"
#include "hwy/foreach_target.h"
// must come after foreach_target.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kolmo::check::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
double multiply_adds(long rounds, double* sink) {
  const hn::ScalableTag<T> d;
  auto a0 = hn::Set(d, T(0.1)), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0, a8 = a0,
       a9 = a0;
  const auto m = hn::Set(d, T(0.5)), c = hn::Set(d, T(0.25));
  for (long i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, m, c), a1 = hn::MulAdd(a1, m, c), a2 = hn::MulAdd(a2, m, c),
    a3 = hn::MulAdd(a3, m, c);
    a4 = hn::MulAdd(a4, m, c), a5 = hn::MulAdd(a5, m, c), a6 = hn::MulAdd(a6, m, c),
    a7 = hn::MulAdd(a7, m, c);
    a8 = hn::MulAdd(a8, m, c), a9 = hn::MulAdd(a9, m, c);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)),
                           hn::Add(hn::Add(hn::Add(a4, a5), hn::Add(a6, a7)), hn::Add(a8, a9)));
  *sink = double(hn::GetLane(sum));
  return 20.0 * double(hn::Lanes(d)) * double(rounds);
}
double flops_f64(long rounds, double* sink) { return multiply_adds<double>(rounds, sink); }
double flops_f32(long rounds, double* sink) { return multiply_adds<float>(rounds, sink); }

}  // namespace kolmo::check::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "kolmo/check/benchmark.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo::check {
namespace {

HWY_EXPORT(flops_f64);
HWY_EXPORT(flops_f32);

using Clock = std::chrono::steady_clock;
constexpr int attempts = 5;

/// The shortest time of several attempts.
template <class F>
double fastest(int times, F&& f) {
  double best = 1e30;
  for (int i = 0; i < times; ++i) {
    const auto begin = Clock::now();
    f();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

double cpu_flops(int threads, double (*probe)(long, double*)) {
  // About a millisecond: one of twenty attempts fits between interruptions.
  constexpr long rounds = 1 << 19;
  std::vector<double> sinks(std::size_t(threads) * 8);
  double flops = 0;
  const double seconds = fastest(20, [&] {
    parallel_for(threads, threads, [&](std::int64_t i, int) {
      const double done = probe(rounds, &sinks[std::size_t(i) * 8]);
      if (i == 0) flops = done;
    });
  });
  return flops * threads / seconds;
}

double cpu_bandwidth(int threads) {
  const long array_bytes = std::clamp(2 * sysconf(_SC_LEVEL3_CACHE_SIZE), 64L << 20, 256L << 20);
  const std::size_t n = std::size_t(array_bytes) / sizeof(double);
  const auto a = std::make_unique<double[]>(n), b = std::make_unique<double[]>(n),
             c = std::make_unique<double[]>(n);
  const std::int64_t slices = threads * 4;
  const double seconds = fastest(attempts, [&] {
    parallel_for(threads, slices, [&](std::int64_t s, int) {
      const auto begin = n * std::size_t(s) / std::size_t(slices),
                 end = n * std::size_t(s + 1) / std::size_t(slices);
      for (std::size_t i = begin; i < end; ++i) a[i] = b[i] + 0.5 * c[i];
    });
  });
  return 3.0 * sizeof(double) * double(n) / seconds;
}

double copy_bandwidth(Stream& stream) {
  constexpr std::size_t bytes = 1u << 30;
  const Buffer from(bytes, stream), to(bytes, stream);
  const std::vector<std::size_t> shape{bytes};
  Event begin(stream.device()), end(stream.device());
  double best = 1e30;
  for (int i = 0; i < attempts; ++i) {
    begin.record(stream);
    stream.copy(to.as(DType::u8, shape), from.as(DType::u8, shape));
    end.record(stream);
    end.synchronize();
    best = std::min(best, Event::seconds(begin, end));
  }
  return 2.0 * double(bytes) / best;
}

}  // namespace

DeviceInfo measured_peaks(Stream& stream) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, int>, DeviceInfo> known;
  const std::scoped_lock lock(mutex);
  const auto [at, fresh] = known.try_emplace({to_string(stream.device()), stream.threads()});
  if (!fresh) return at->second;
  DeviceInfo info = device_info(stream.device());
  if (info.device.kind == DeviceKind::cpu) {
    info.bytes_per_second = cpu_bandwidth(stream.threads());
    info.flops_f64 = cpu_flops(stream.threads(), HWY_DYNAMIC_DISPATCH(flops_f64));
    info.flops_f32 = cpu_flops(stream.threads(), HWY_DYNAMIC_DISPATCH(flops_f32));
    info.matrix_flops_f64 = info.flops_f64, info.matrix_flops_16 = info.flops_f32;
  } else if (info.device.kind == DeviceKind::cuda) {
    info.bytes_per_second = copy_bandwidth(stream);
  } else {
    info.bytes_per_second = info.flops_f64 = info.flops_f32 = 0;
  }
  return at->second = info;
}

double peak_flops(const DeviceInfo& peaks, const Cost& cost, DType dtype) {
  if (dtype == DType::f64) return cost.matrix_products ? peaks.matrix_flops_f64 : peaks.flops_f64;
  const bool narrow = dtype == DType::f16 || dtype == DType::bf16;
  return narrow && cost.matrix_products ? peaks.matrix_flops_16 : peaks.flops_f32;
}

}  // namespace kolmo::check
#endif
