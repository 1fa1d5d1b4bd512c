#include "kolmo/tune/stream_measurer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kolmo/tune/statistics.hpp"

namespace kolmo::tune {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

// The most calls that may be queued while a device's queue is held. The queue takes about a thousand
// launches, and a held queue that is full would never start.
constexpr int most_held_calls = 128;
constexpr int most_calls = 10000;

}  // namespace

StreamMeasurer::StreamMeasurer(Stream stream, std::function<void(std::size_t)> call, MeasureOptions options,
                               std::function<int(int)> before)
    : stream_(std::move(stream)),
      call_(std::move(call)),
      before_(std::move(before)),
      options_(std::move(options)),
      begin_(stream_.device()),
      end_(stream_.device()) {
  if (options_.span <= 0) options_.span = in_host_memory(stream_.device()) ? 1e-3 : 100e-6;
  if (cold()) {
    const double cache = double(device_info(stream_.device()).cache);
    flushed_ = Buffer(std::size_t(2 * std::max(cache, 32e6)), stream_);
  }
}

void StreamMeasurer::flush() {
  if (cold()) stream_.fill(flushed_.as(DType::u8, std::vector{std::int64_t(flushed_.bytes())}), 0);
}

void StreamMeasurer::queue(std::size_t config, Prepared& p) {
  if (p.graph)
    p.graph->launch(stream_);
  else
    call_(config);
}

double StreamMeasurer::prepare(std::size_t config) {
  const auto begin = Clock::now();
  const double once = make_ready(config);
  spent_ += since(begin);
  return once;
}

double StreamMeasurer::make_ready(std::size_t config) {
  Prepared& p = prepared_[config];
  make_fresh(1);
  call_(config);  // the first call includes loading code and touching memory
  stream_.synchronize();
  if (replayed()) {
    make_fresh(1);
    p.graph = std::make_unique<Graph>(capture(stream_, [&] { call_(config); }));
  }
  if (!warm_) warm_up(config);
  const double once = timed(config, p);
  if (!cold())
    p.calls = int(std::clamp(std::ceil(options_.span / std::max(once, 1e-9)), 1.0, double(most_calls)));
  return once;
}

/// Warms up, since a device reaches its full clock only under load.
void StreamMeasurer::warm_up(std::size_t config) {
  const auto begin = Clock::now();
  double before = 0;
  while (since(begin) < options_.warm_up) {
    const auto window = Clock::now();
    int calls = 0;
    for (; since(window) < 0.02; ++calls) {
      make_fresh(1);
      queue(config, prepared_[config]);
      stream_.synchronize();
    }
    const double now = since(window) / calls;
    if (std::abs(now - before) < 0.01 * now) break;
    before = now;
  }
  warm_ = true;
}

double StreamMeasurer::timed(std::size_t config, Prepared& p) {
  if (options_.mode == Mode::eager) return timed_by_host(config, p);
  const int calls = make_fresh(std::min(p.calls, most_held_calls));
  flush();
  {
    const auto release = stream_.hold();
    begin_.record(stream_);
    for (int i = 0; i < calls; ++i) queue(config, p);
    end_.record(stream_);
  }
  end_.synchronize();
  return Event::seconds(begin_, end_) / calls;
}

double StreamMeasurer::timed_by_host(std::size_t config, Prepared& p) {
  const int calls = make_fresh(p.calls);
  stream_.synchronize();
  const auto begin = Clock::now();
  for (int i = 0; i < calls; ++i) queue(config, p);
  stream_.synchronize();
  return since(begin) / calls;
}

bool StreamMeasurer::clocks_are_steady() {
  if (!options_.clocks) return true;
  const Clocks now = options_.clocks();
  temperature_ = std::max(temperature_, now.temperature_celsius);
  if (!now.throttled.empty()) {
    throttled_ = now.throttled;
    return false;
  }
  if (now.hertz <= 0) return true;
  hertz_.push_back(now.hertz);
  return now.hertz >= 0.95 * median(hertz_);
}

std::optional<double> StreamMeasurer::sample(std::size_t config) {
  const Load before = options_.load ? options_.load() : Load{};
  const auto begin = Clock::now();
  const double seconds = timed(config, prepared_[config]), span = since(begin);
  spent_ += span, ++samples_;
  const bool lost = options_.load && tune::disturbed(before, options_.load(), span);
  disturbed_ += lost;
  if (lost || !clocks_are_steady() || !(seconds > 0)) return {};
  return seconds;
}

}  // namespace kolmo::tune
