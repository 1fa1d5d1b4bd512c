#include "kolmo/tune/shadow.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "kolmo/runtime/metrics.hpp"
#include "kolmo/runtime/monitor.hpp"
#include "kolmo/tune/lookup.hpp"

namespace kolmo::tune {

bool Allowance::covers(double seconds, double now) {
  level_ = std::min(most_, level_ + share_ * (now - filled_at_));
  filled_at_ = now;
  return level_ >= std::min(seconds, most_);
}

Production this_process() {
  using Clock = std::chrono::steady_clock;
  return {[] { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); },
          monitor::launches, [] { return captures_in_progress() > 0; },
          [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); },
          [] { return false; }};
}

ShadowMeasurer::ShadowMeasurer(Measurer& inner, const ShadowLimits& limits, Production production)
    : inner_(inner),
      limits_(limits),
      production_(std::move(production)),
      allowance_(limits.share, limits.window, production_.now()) {}

/// Waits until two readings of the number of launches, `idle` seconds apart, are equal.
void ShadowMeasurer::wait_for_gap() {
  while (true) {
    if (production_.stop()) throw Stopped{};
    const std::uint64_t launches = production_.launches();
    production_.sleep(limits_.idle);
    if (production_.launches() == launches && !production_.capturing() &&
        allowance_.covers(expected_, production_.now()))
      return;
  }
}

void ShadowMeasurer::spent_since(double begin) {
  const double took = production_.now() - begin;
  allowance_.spend(took);
  expected_ = std::max(expected_, std::min(took, limits_.longest));
  metrics::counter("kolmo_tuner_shadow_gpu_seconds_total", {}, "Time spent on tuning beside production")
      .add(took);
}

double ShadowMeasurer::prepare(std::size_t config) {
  double once = in_gap([&] { return inner_.prepare(config); });
  if (once > limits_.longest)  // its one measurement may have been interrupted
    once = in_gap([&] { return inner_.sample(config).value_or(once); });
  if (once > limits_.longest)
    fail<Unsupported>("configuration " + std::to_string(config) +
                      " takes too long to be tried beside production");
  return once;
}

std::optional<double> ShadowMeasurer::sample(std::size_t config) {
  return in_gap([&] { return inner_.sample(config); });
}

Shadow::Shadow(std::vector<PlannedCall> calls, Device device, Store store, CallOptions options,
               const ShadowLimits& limits)
    : calls_(std::move(calls)),
      device_(device),
      store_(std::move(store)),
      options_(std::move(options)),
      limits_(limits),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

bool Shadow::tune_one(const PlannedCall& call, Stream& stream, const Production& production) {
  if (fresh(*call.op, call.args, stream, options_.measure.mode, store_)) return true;
  ShadowMeasurer* measurer = nullptr;
  const auto beside = [&](Measurer& inner) {
    auto shadow = std::make_unique<ShadowMeasurer>(inner, limits_, production);
    measurer = shadow.get();
    return shadow;
  };
  CallOptions options = options_;
  if (options_.verify)
    options.verify = [&](const OpBase& op, const void* args, const RunOptions& o) {
      return measurer->in_gap([&] { return options_.verify(op, args, o); });
    };
  try {
    const TunedCall tuned = tune_call(*call.op, call.args, stream, options, &store_, beside);
    if (!tuned.tuning.decided) return true;
    keep(tuned, store_);
    const Device devices[] = {device_};
    use(store_, devices, to_string(options_.measure.mode));
    return true;
  } catch (const std::exception&) {  // tuning must not stop production, which runs on as before
    metrics::counter("kolmo_tuner_trials_total", {{"outcome", "aborted"}}, "Samples of candidates").add();
    return false;
  }
}

void Shadow::work(const std::stop_token& stop) {
  // Production keeps the device warm. A warm-up would be many launches, of which only one may run at a time.
  options_.measure.warm_up = 0;
  Stream stream = Stream::background(device_);
  Production production = this_process();
  production.stop = [stop] { return stop.stop_requested(); };
  try {
    while (!stop.stop_requested()) {
      std::erase_if(calls_, [&](const PlannedCall& call) { return !tune_one(call, stream, production); });
      for (int i = 0; i < 600 && !stop.stop_requested(); ++i) production.sleep(0.1);
      record_misses(store_);  // includes calls that have become stale since
    }
  } catch (const ShadowMeasurer::Stopped&) {
  } catch (const std::exception&) {  // the store failed: production runs on as before
  }
}

}  // namespace kolmo::tune
