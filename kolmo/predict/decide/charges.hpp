#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace kolmo::predict {

/// The kinds of work that take time beside the training itself.
enum class Charge { record, averages, forecasts, evaluations, snapshots };
inline constexpr std::array<std::string_view, 5> charge_names{"record", "averages", "forecasts",
                                                              "evaluations", "snapshots"};

/// Throws InvalidArgument for a name that is not in charge_names.
Charge charge_of(std::string_view name);

/// Seconds on a clock that never goes back.
double steady_seconds();

/// The seconds that a watch over a training takes, and the guard that keeps its forecasts within a share of the wall time.
class Charges {
 public:
  /// `share`: of the wall time, above 0 and at most 1; none: no limit. Throws InvalidArgument.
  explicit Charges(std::optional<double> share, std::function<double()> clock = steady_seconds);

  /// The wall time runs from the first call on, or from the beginning of what was charged before it.
  void begin();
  void add(Charge kind, double seconds);
  double seconds(Charge kind) const { return seconds_[std::size_t(kind)]; }
  double wall() const;
  /// The share of the wall time that was taken, without evaluations, which are the training's own.
  double overhead() const;

  /// Whether the forecasts of a decision, if they cost what the last did, stay within half of the share; the other half is for
  /// records and averages. A first decision is taken to cost .02 seconds.
  bool affordable() const;
  /// The seconds that the forecasts of the last decision took.
  void set_cost(double seconds) { cost_ = seconds; }

  nlohmann::json state() const;
  /// The wall time goes on from that of the state, with the next call.
  void load(const nlohmann::json& state);

 private:
  std::optional<double> share_;
  std::function<double()> clock_;
  std::array<double, charge_names.size()> seconds_{};
  double cost_ = .02, elapsed_ = 0;
  std::optional<double> started_;
};

}  // namespace kolmo::predict
