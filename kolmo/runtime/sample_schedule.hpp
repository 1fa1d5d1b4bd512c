#pragma once
#include <cstdint>

namespace kolmo::monitor {

/// Which launches of a thread are looked at closely: at random, so that no pattern of launches is missed
/// (geometric gaps), and as often as costs 0.3 % of the thread's time: p = 0.003 interval / cost, both
/// as measured. What is taken beyond that is refused above 0.5 %. Times in seconds.
class SampleSchedule {
 public:
  constexpr explicit SampleSchedule(std::uint64_t seed = 1) : random_(seed) {}
  bool due() noexcept { return --left_ <= 0; }
  /// Whether a sample may be taken now; if not, the next gap is drawn.
  bool begin(double now) noexcept;
  /// One was taken, and cost `cost` seconds of this thread.
  void end(double now, double cost) noexcept;
  double probability() const noexcept { return probability_; }
  double cost() const noexcept { return cost_; }

 private:
  void draw() noexcept;

  static constexpr double share = 0.003, most = 0.005, grace = 100e-6, memory = 10;
  std::int64_t left_ = 100, drawn_ = 100;  // a thread that launches little is left to Kernel::wanted
  std::uint64_t random_;
  double since_ = 0, spent_ = 0;  // of the last seconds
  double last_ = 0, interval_ = 0, cost_ = 0, probability_ = 0.01;
};

}  // namespace kolmo::monitor
