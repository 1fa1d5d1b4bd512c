#pragma once
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "kolmo/tune/measurer.hpp"
#include "kolmo/tune/tune_call.hpp"

namespace kolmo::tune {

/// What tuning beside production may take from it.
struct ShadowLimits {
  double share = 0.005;   ///< of the device's time
  double window = 60;     ///< seconds over which that share is kept
  double idle = 0.005;    ///< seconds without a launch before one sample may be taken
  double longest = 1e-3;  ///< seconds a candidate may take: kernels are not interrupted
};

/// Time that may be spent: fills at `share` of real time up to share x window; empty at first.
class Allowance {
 public:
  Allowance(double share, double window, double now)
      : share_(share), most_(share * window), filled_at_(now) {}
  bool covers(double seconds, double now);
  void spend(double seconds) { level_ -= seconds; }

 private:
  double share_, most_, level_ = 0, filled_at_;
};

/// How production looks to whoever must not disturb it.
struct Production {
  std::function<double()> now;              ///< seconds
  std::function<std::uint64_t()> launches;  ///< of operators, so far
  std::function<bool()> capturing;          ///< whether a stream is being captured
  std::function<void(double)> sleep;        ///< for so many seconds
  std::function<bool()> stop;               ///< asked while waiting; true ends the tuning
};
/// This process's.
Production this_process();

/// Measures as another one does, one sample at a time: each waits until nothing was launched for `idle`
/// seconds, no stream is captured, and the allowance covers it. Whatever took longer than `longest` twice is
/// not run again. Stopped throws Stopped.
class ShadowMeasurer final : public Measurer {
 public:
  struct Stopped {};

  ShadowMeasurer(Measurer& inner, const ShadowLimits& limits, Production production);
  /// Runs `work` when a sample might be taken, on the same account.
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
  double expected_ = 0;  // of the next sample: the longest so far
};

/// Opt-in tuning beside production: a thread that tunes these calls, on a stream of the lowest priority,
/// whenever the store has nothing fresh for one (at first, after about a week, when its times have drifted),
/// and lets production use what it finds. Naive rows are left out. `options.verify` is asked in gaps, too.
/// The calls' tensors must be scratch memory that nothing else touches while this object lives; it allocates
/// the operators' workspaces and, in a cold mode, twice the device's cache. A call that fails to be tuned is
/// given up.
class Shadow {
 public:
  Shadow(std::vector<PlannedCall> calls, Device device, Store store, CallOptions options = {},
         const ShadowLimits& limits = {});

 private:
  /// False when it cannot be tuned.
  bool tune_one(const PlannedCall& call, Stream& stream, const Production& production);
  void work(const std::stop_token& stop);

  std::vector<PlannedCall> calls_;
  Device device_;
  Store store_;
  CallOptions options_;
  ShadowLimits limits_;
  std::jthread thread_;  // last: it is told to stop, and joined, before the rest goes
};

}  // namespace kolmo::tune
