#include "kolmo/predict/decide/charges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

#include "kolmo/base/error.hpp"

namespace kolmo::predict {

Charge charge_of(std::string_view name) {
  const auto found = std::find(charge_names.begin(), charge_names.end(), name);
  require(found != charge_names.end(),
          fmt::format("charges: there is no kind '{}'; there are {}", name, fmt::join(charge_names, ", ")));
  return Charge(found - charge_names.begin());
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Charges::Charges(std::optional<double> share, std::function<double()> clock)
    : share_(share), clock_(std::move(clock)) {
  require(
      !share || (*share > 0 && *share <= 1),
      fmt::format("overhead is a share of the wall time above 0 and at most 1, not {}", share.value_or(0)));
}

void Charges::begin() {
  if (!started_) started_ = clock_();
}

void Charges::add(Charge kind, double seconds) {
  if (!started_) started_ = clock_() - seconds;
  seconds_[std::size_t(kind)] += seconds;
}

double Charges::wall() const { return elapsed_ + (started_ ? clock_() - *started_ : 0); }

double Charges::overhead() const {
  const double own = std::accumulate(seconds_.begin(), seconds_.end(), -seconds(Charge::evaluations)),
               all = wall();
  return all > 0 ? own / all : 0;
}

bool Charges::affordable() const {
  return !share_ || seconds(Charge::forecasts) + cost_ <= *share_ / 2 * wall();
}

nlohmann::json Charges::state() const {
  nlohmann::json seconds;
  for (std::size_t i = 0; i < seconds_.size(); ++i) seconds[std::string(charge_names[i])] = seconds_[i];
  return {{"seconds", seconds}, {"wall", wall()}, {"cost", cost_}};
}

void Charges::load(const nlohmann::json& state) {
  for (std::size_t i = 0; i < seconds_.size(); ++i)
    seconds_[i] = state.at("seconds").at(std::string(charge_names[i])).get<double>();
  elapsed_ = state.at("wall").get<double>(), cost_ = state.at("cost").get<double>();
  started_.reset();
}

}  // namespace kolmo::predict
