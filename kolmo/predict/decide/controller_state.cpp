#include <cmath>
#include <nlohmann/json.hpp>

#include "kolmo/io/json.hpp"
#include "kolmo/predict/decide/controller.hpp"

namespace kolmo::predict {
namespace {

using Json = nlohmann::json;

Json number(double x) {
  if (std::isfinite(x)) return x;
  if (std::isnan(x)) return nullptr;
  return x > 0 ? "inf" : "-inf";
}

double number(const Json& j) {
  if (j.is_null()) return Decision::unknown;
  if (j.is_string()) return j == "inf" ? INFINITY : -INFINITY;
  return j.get<double>();
}

template <class T>
Json optional(const std::optional<T>& x) {
  if (!x) return nullptr;
  if constexpr (std::is_same_v<T, double>)
    return Json::array({number(*x)});  // NaN is known, too
  else
    return *x;
}

template <class T>
std::optional<T> optional(const Json& j) {
  if (j.is_null()) return {};
  if constexpr (std::is_same_v<T, double>)
    return number(j.at(0));
  else
    return j.get<T>();
}

Json json_of(const Losses& losses) {
  Json all = Json::array();
  for (const auto& [of, loss] : losses) all.push_back({of, number(loss)});
  return all;
}

Losses losses_in(const Json& json) {
  Losses losses;
  for (const Json& row : json) losses.emplace_back(row.at(0).get<std::string>(), number(row.at(1)));
  return losses;
}

Json json_of(const Decided& d) {
  const Outcome& o = d.outcome;
  return {{"step", d.step},
          {"action", std::string(d.action)},
          {"length", d.length},
          {"probability", number(d.probability)},
          {"margin", number(d.margin)},
          {"forecast", number(d.forecast)},
          {"driver", d.driver},
          {"reason", d.reason},
          {"outcome",
           {{"measured", optional(o.measured)},
            {"error", optional(o.error)},
            {"losses", o.losses ? json_of(*o.losses) : Json()},
            {"rolled_back", optional(o.rolled_back)},
            {"returned_to", optional(o.returned_to)},
            {"rate_factor", optional(o.rate_factor)},
            {"reason", o.reason},
            {"average", o.average}}}};
}

std::string_view action_in(const std::string& name) {
  for (const std::string_view action :
       {Decision::go_on, Decision::start_decay, Decision::return_average, Decision::stop, Decision::alarm})
    if (action == name) return action;
  fail<InvalidArgument>("controller: there is no action '" + name + "'");
}

Decided decided_in(const Json& j) {
  Decided d;
  j.at("step").get_to(d.step), j.at("length").get_to(d.length);
  j.at("driver").get_to(d.driver), j.at("reason").get_to(d.reason);
  d.action = action_in(j.at("action").get<std::string>());
  d.probability = number(j.at("probability")), d.margin = number(j.at("margin"));
  d.forecast = number(j.at("forecast"));
  const Json& o = j.at("outcome");
  d.outcome.measured = optional<double>(o.at("measured")), d.outcome.error = optional<double>(o.at("error"));
  if (!o.at("losses").is_null()) d.outcome.losses = losses_in(o.at("losses"));
  d.outcome.rolled_back = optional<bool>(o.at("rolled_back"));
  d.outcome.returned_to = optional<std::int64_t>(o.at("returned_to"));
  d.outcome.rate_factor = optional<double>(o.at("rate_factor"));
  o.at("reason").get_to(d.outcome.reason), o.at("average").get_to(d.outcome.average);
  return d;
}

}  // namespace

std::string text_of(const Losses& losses) { return json_of(losses).dump(); }
Losses losses_of(const std::string& text) { return losses_in(Json::parse(text)); }
std::string text_of(const Decided& decision) {
  return json_of(decision).dump(-1, ' ', false, Json::error_handler_t::replace);
}
Decided decided_of(const std::string& text) { return decided_in(Json::parse(text)); }

std::string Controller::state() const {
  Json means = Json::array(), decisions = Json::array();
  for (const double x : means_) means.push_back(number(x));
  for (const Decided& d : decisions_) decisions.push_back(json_of(d));
  const Json state = {{"charges", charges_.state()},
                      {"phase", int(phase_)},
                      {"done", done_},
                      {"steps", steps_},
                      {"rolled_back", rolled_back_},
                      {"next", next_},
                      {"known", known_},
                      {"alarms", alarms_},
                      {"factor", factor_},
                      {"base_factor", base_factor_},
                      {"offset", offset_},
                      {"usual", number(usual_)},
                      {"means", means},
                      {"decisions", decisions},
                      {"decay", decay_ ? Json{decay_->decision, decay_->start} : Json()},
                      {"verified", optional(verified_)},
                      {"candidate", optional(candidate_)},
                      {"leader", optional(leader_)},
                      {"alone", alone_}};
  return state.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void Controller::load(const std::string& text) {
  const Json j = parse_json(text, "controller: the state");
  Controller c = *this;
  try {
    c.charges_.load(j.at("charges"));
    const int phase = j.at("phase").get<int>();
    require(phase >= int(Phase::warmup) && phase <= int(Phase::correct),
            "controller: the state has no phase");
    c.phase_ = Phase(phase);
    j.at("done").get_to(c.done_), j.at("steps").get_to(c.steps_), j.at("rolled_back").get_to(c.rolled_back_);
    j.at("next").get_to(c.next_), j.at("known").get_to(c.known_), j.at("alarms").get_to(c.alarms_);
    j.at("factor").get_to(c.factor_), j.at("base_factor").get_to(c.base_factor_),
        j.at("offset").get_to(c.offset_);
    c.usual_ = number(j.at("usual"));
    c.means_.clear(), c.decisions_.clear(), c.decay_.reset();
    for (const Json& x : j.at("means")) c.means_.push_back(number(x));
    for (const Json& d : j.at("decisions")) c.decisions_.push_back(decided_in(d));
    if (const Json& decay = j.at("decay"); !decay.is_null()) {
      c.decay_ = Decay{decay.at(0).get<std::size_t>(), decay.at(1).get<std::int64_t>()};
      require(c.decay_->decision < c.decisions_.size(),
              "controller: the state has a decay without its decision");
    }
    c.verified_ = optional<std::int64_t>(j.at("verified")),
    c.candidate_ = optional<std::int64_t>(j.at("candidate"));
    c.leader_ = optional<std::string>(j.at("leader")), j.at("alone").get_to(c.alone_);
  } catch (const Json::exception& e) {
    fail<InvalidArgument>(std::string("controller: the state is damaged: ") + e.what());
  }
  *this = std::move(c);
}

}  // namespace kolmo::predict
