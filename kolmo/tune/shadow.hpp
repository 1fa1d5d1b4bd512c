#pragma once
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "kolmo/tune/measurer.hpp"
#include "kolmo/tune/tune_call.hpp"

namespace kolmo::tune {

/// The limits of tuning beside production.
struct ShadowLimits {
  double share = 0.005;   ///< share of the device's time
  double window = 60;     ///< seconds over which that share is kept
  double idle = 0.005;    ///< seconds without a launch before one sample may be taken
  double longest = 1e-3;  ///< longest time of a candidate in seconds: kernels cannot be interrupted
};

/// A time budget that grows at `share` of real time, up to share x window, and starts empty.
class Allowance {
 public:
  Allowance(double share, double window, double now)
      : share_(share), most_(share * window), filled_at_(now) {}
  bool covers(double seconds, double now);
  void spend(double seconds) { level_ -= seconds; }

 private:
  double share_, most_, level_ = 0, filled_at_;
};

/// The state of production that tuning must observe.
struct Production {
  std::function<double()> now;              ///< seconds
  std::function<std::uint64_t()> launches;  ///< of operators, so far
  std::function<bool()> capturing;          ///< whether a stream is being captured
  std::function<void(double)> sleep;        ///< sleeps for a number of seconds
  std::function<bool()> stop;               ///< polled while waiting; true ends the tuning
};
/// The production of this process.
Production this_process();

/// Wraps another measurer. It takes one sample at a time, and only after `idle` seconds without a launch,
/// while no stream is captured, and if the allowance covers the sample. A configuration that took longer than
/// `longest` twice is not run again. Throws Stopped when it is stopped.
class ShadowMeasurer final : public Measurer {
 public:
  struct Stopped {};

  ShadowMeasurer(Measurer& inner, const ShadowLimits& limits, Production production);
  /// Runs `work` under the same conditions as a sample, charged to the same allowance.
  template <class F>
  auto in_gap(F work) {
    wait_for_gap();
    struct Account {
      ShadowMeasurer& m;
      double begin;
      ~Account() { m.spent_since(begin); }
    } const account{*this, production_.now()};
    return work();
  }

  double prepare(std::size_t config) override;
  std::optional<double> sample(std::size_t config) override;
  double spent() const override { return inner_.spent(); }

 private:
  void wait_for_gap();
  void spent_since(double begin);

  Measurer& inner_;
  ShadowLimits limits_;
  Production production_;
  Allowance allowance_;
  double expected_ = 0;  // estimate for the next sample: the longest one so far
};

/// Tunes beside production, if a program asks for it. A thread tunes these calls, on a stream of the lowest
/// priority, whenever the store has no fresh configuration for one (at first, after about a week, or when its
/// times have drifted), and production then uses the results. Naive rows are left out. `options.verify` is
/// called in gaps, too. The calls' tensors must be scratch memory that nothing else uses while this object
/// lives. Its own allocations are the operators' workspaces and, in a cold mode, twice the device's cache. A
/// call whose tuning fails is not tried again.
class Shadow {
 public:
  Shadow(std::vector<PlannedCall> calls, Device device, Store store, CallOptions options = {},
         const ShadowLimits& limits = {});

 private:
  /// Tunes a call; returns false if it cannot be tuned.
  bool tune_one(const PlannedCall& call, Stream& stream, const Production& production);
  void work(const std::stop_token& stop);

  std::vector<PlannedCall> calls_;
  Device device_;
  Store store_;
  CallOptions options_;
  ShadowLimits limits_;
  std::jthread thread_;  // the last member, so that it stops before others are destroyed
};

}  // namespace kolmo::tune
