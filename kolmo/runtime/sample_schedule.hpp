#pragma once
#include <cstdint>

namespace kolmo::monitor {

/// Picks launches at random. The gaps are geometrically distributed, so that no periodic pattern of launches
/// is missed.
class RandomGaps {
 public:
  constexpr RandomGaps(std::uint64_t seed, double probability, std::int64_t first)
      : left_(first), drawn_(first), random_(seed), probability_(probability) {}
  bool due() noexcept { return --left_ <= 0; }
  /// The probability with which the launch that is due was picked.
  double probability() const noexcept { return probability_; }
  std::int64_t launches() const noexcept { return drawn_ - left_; }  ///< since draw() or forget()
  void forget() noexcept { drawn_ = left_; }
  void draw(double probability) noexcept;

 private:
  std::int64_t left_, drawn_;
  std::uint64_t random_;
  double probability_;
};

/// Chooses the launches of a thread that are timed on the device, as many as cost 0.1 % of the thread's time:
/// p = 0.001 interval / cost, where both are measured. Samples that would raise the share above 0.2 % are
/// refused. Times are in seconds.
class SampleSchedule {
 public:
  constexpr explicit SampleSchedule(std::uint64_t seed = 1) : gaps_(seed, 0.01, 100) {}
  bool due() noexcept { return gaps_.due(); }
  /// Whether a sample may be taken now; if not, the next gap is drawn.
  bool begin(double now) noexcept;
  /// Ends a sample, which cost `cost` seconds of this thread.
  void end(double now, double cost) noexcept;
  double probability() const noexcept { return gaps_.probability(); }
  double cost() const noexcept { return cost_; }

 private:
  static constexpr double share = 0.001, most = 0.002, grace = 100e-6, memory = 10;
  RandomGaps gaps_;               // threads with few launches are sampled through LaunchMetrics::wanted
  double since_ = 0, spent_ = 0;  // over the last seconds
  double last_ = 0, interval_ = 0, cost_ = 0;
};

/// Chooses the launches in host memory that are timed: all, if that costs less than 0.1 % of the thread's
/// time, else as many as cost that share.
class TimingSchedule {
 public:
  static constexpr double share = 0.001;
  /// About so many seconds: two clock readings and a record that is not in the cache.
  static constexpr double cost = 300e-9;
  constexpr explicit TimingSchedule(std::uint64_t seed = 1) : gaps_(seed, 1, 1) {}
  bool due() noexcept { return gaps_.due(); }
  /// Number of launches that the due one represents.
  double weight() const noexcept { return 1 / gaps_.probability(); }
  /// The due launch was timed, and ended now.
  void timed(double now) noexcept;

 private:
  RandomGaps gaps_;
  double last_ = 0, interval_ = 0;
};

}  // namespace kolmo::monitor
