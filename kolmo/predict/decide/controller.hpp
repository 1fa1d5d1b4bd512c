#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/predict/decide/charges.hpp"
#include "kolmo/predict/decide/decision.hpp"
#include "kolmo/predict/decide/host.hpp"

namespace kolmo::predict {

struct ControlOptions {
  bool control = false;    ///< decisions are carried out; otherwise they are advice
  bool evaluates = false;  ///< the host can evaluate when asked
  /// The held-out loss to reach. If none was evaluated or reported so far, it is the mean training loss, over 50 steps or more.
  std::optional<double> target;
  std::optional<std::int64_t> budget;     ///< steps
  std::optional<std::int64_t> every;      ///< steps between decisions; none: decision_stride()
  std::int64_t warmup = 100;              ///< steps without forecasts
  std::optional<double> overhead = .005;  ///< the share of the wall time, as Charges take it
  std::vector<std::string> averages;      ///< their names, the one that counts first
};

/// The outcome of a decision, as far as it is known.
struct Outcome {
  std::optional<double> measured;  ///< loss of the weights at the end of the decay
  std::optional<double> error;     ///< by which it is above its forecast
  std::optional<Losses> losses;
  std::optional<bool> rolled_back;
  std::optional<std::int64_t> returned_to;  ///< step
  std::optional<double> rate_factor;        ///< from then on
  std::string reason;                       ///< of the rollback
  std::string average;                      ///< that is returned
};

struct Decided : Decision {
  Outcome outcome;
};

/// Takes a training through its phases. Warmup: no forecasts. Full: the training as it is. Predict: a decay runs, from a state that was
/// kept. Correct: its result is compared with the forecast, and kept or rolled back. A decay is kept if it reached the target or ends
/// the budget. After a loss that is no finite number or exploded the training goes back to the last verified state at half the rate,
/// and the third such alarm stops it. Steps that were rolled back are charged to the budget, and seconds to the overhead. All it does
/// to a training goes through a Host. An exception of the host comes through, and the next step goes on, unless
/// the training was to end: then it has ended, by the losses that were known.
class Controller {
 public:
  enum class Phase { warmup, full, predict, correct };
  static constexpr std::int64_t block = 10;  ///< steps

  /// Throws InvalidArgument, naming the option: control needs a target or a budget; a target is finite, a budget 1 step or more.
  explicit Controller(ControlOptions options, std::function<double()> clock = steady_seconds);

  /// Before each step, if decisions are carried out.
  void before_step(Host& host);
  /// After each step.
  void step(Host& host);
  /// A held-out loss was reported, of the weights, "", or of an average.
  void validated(Host& host, const std::string& of, double loss);
  /// The host took the training back to the state after this step on its own account.
  void went_back(std::int64_t step);
  /// Makes decisions advice from now on.
  void release();

  Phase phase() const { return steps_ < options_.warmup ? Phase::warmup : phase_; }
  bool done() const { return done_; }
  std::int64_t steps() const { return steps_; }
  /// All steps that were taken, those that were rolled back included.
  std::int64_t charged() const { return steps_ + rolled_back_; }
  double rate_factor() const { return factor_; }
  /// The factor of the rate that alarms have left, outside a decay.
  double base_factor() const { return base_factor_; }
  /// The amount by which earlier decays ended above their forecasts.
  double offset() const { return offset_; }
  const std::vector<Decided>& decisions() const { return decisions_; }
  Charges& charges() { return charges_; }
  const Charges& charges() const { return charges_; }

  /// All of it but the options, as JSON text. The states that the host keeps are those of kept().
  std::string state() const;
  /// Takes over the state of a controller that was made with the same options. Throws InvalidArgument for text that is no such state, and changes nothing then.
  void load(const std::string& state);
  /// The steps whose states the host keeps.
  std::vector<std::int64_t> kept() const;

 private:
  struct Decay {
    std::size_t decision;
    std::int64_t start;
  };

  void close_block(Host& host);
  void take_losses(Host& host);
  std::string alarm_reason();
  void alarm(Host& host, const std::string& reason);
  void verify(Host& host);
  std::int64_t stride() const;
  bool due() const;
  void decide(Host& host);
  std::vector<std::string> all_names() const;
  std::optional<Losses> evaluate_for_decision(Host& host, bool forecasts);
  Losses of_training(Host& host) const;
  Decided chosen(Host& host);
  void start_decay(Host& host, Decided decision);
  void follow_decay(Host& host);
  void correct(Host& host);
  void finish(Host& host, const std::string& reason, Losses losses);
  void end(Host& host, Decided decision);
  void go_back(Host& host, std::int64_t step, bool random_and_data);
  void set_factor(Host& host, double factor);
  void forget_others(Host& host);

  ControlOptions options_;
  Charges charges_;
  Phase phase_ = Phase::full;
  bool done_ = false;
  std::int64_t steps_ = 0, rolled_back_ = 0, next_, known_ = 0, alarms_ = 0;
  double factor_ = 1, base_factor_ = 1, offset_ = 0;
  double usual_ = std::numeric_limits<double>::quiet_NaN();  // smoothed mean of blocks
  std::vector<double> means_;                                // of the losses in each block
  std::vector<Decided> decisions_;
  std::optional<Decay> decay_;
  std::optional<std::int64_t> verified_, candidate_;  // steps whose states are kept
  std::optional<std::string> leader_;  // weights or average with the lowest loss when all were evaluated last
  std::int64_t alone_ = 0;             // evaluations of the leader alone since then
};

std::string_view name_of(Controller::Phase phase);

/// Writes and reads JSON text, in which NaN is null and infinities are strings. Both throw nlohmann::json::exception for another document.
std::string text_of(const Losses& losses);
Losses losses_of(const std::string& text);
std::string text_of(const Decided& decision);
Decided decided_of(const std::string& text);

}  // namespace kolmo::predict
