#include "kolmo/predict/forecast/plan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>

#include "kolmo/base/error.hpp"
#include "kolmo/base/number_text.hpp"

namespace kolmo::predict {
namespace {

double left_of(DecayShape shape, double passed) {
  if (passed >= 1) return 0;
  if (shape == DecayShape::linear) return 1 - passed;
  if (shape == DecayShape::sqrt) return 1 - std::sqrt(passed);
  return (1 + std::cos(std::numbers::pi * passed)) / 2;
}

[[noreturn]] void refuse(std::string_view text) {
  fail<InvalidArgument>(
      "plan: '" + std::string(text) +
      "' is no plan; plans are hold, decay@AT:LENGTH or decay@AT:LENGTH:SHAPE with AT a step or "
      "now and SHAPE linear, sqrt or cosine, cosine@END, and the name of a file of rates");
}

std::int64_t number(std::string_view word, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 1) refuse(text);
  return value;
}

}  // namespace

std::vector<double> Plan::after(std::int64_t last, double rate, std::int64_t steps) const {
  std::vector<double> to_come(std::size_t(steps), rate);
  const auto fill = [&](auto value) {
    for (std::int64_t i = 0; i < steps; ++i) to_come[std::size_t(i)] = value(last + 1 + i);
  };
  if (kind == Kind::decay) {
    const std::int64_t begin = at ? at : last;
    require(length >= 1, "plan: a decay needs a length of 1 step or more");
    require(begin >= last, "plan: the decay at step " + std::to_string(begin) +
                               " begins before the last step of the log, " + std::to_string(last) +
                               "; a decay that has begun is a plan of rates");
    fill([&](std::int64_t step) {
      return step <= begin ? rate : rate * left_of(shape, double(step - begin - 1) / double(length));
    });
  } else if (kind == Kind::cosine) {
    require(at > last, "plan: the cosine that ends at step " + std::to_string(at) +
                           " has ended at the last step of the log, " + std::to_string(last));
    const double now = left_of(DecayShape::cosine, double(last) / double(at));
    fill([&](std::int64_t step) {
      return rate * left_of(DecayShape::cosine, double(step) / double(at)) / now;
    });
  } else if (kind == Kind::rates) {
    const std::int64_t begin = first ? first : last + 1;
    require(!values.empty(), "plan: there are no rates");
    for (const double v : values)
      require(v >= 0 && std::isfinite(v),
              "plan: " + number_text(v) + " is no rate; rates are 0 or positive, and finite");
    require(begin <= last + 1, "plan: the first rate is that of step " + std::to_string(begin) +
                                   ", but the log ends with step " + std::to_string(last));
    const auto place = [&](std::int64_t step) {
      return std::min(std::size_t(step - begin), values.size() - 1);
    };
    fill([&](std::int64_t step) { return values[place(step)]; });
  }
  return to_come;
}

std::string Plan::text() const {
  if (kind == Kind::hold) return "hold";
  if (kind == Kind::cosine) return "cosine@" + std::to_string(at);
  if (kind == Kind::rates) return "rates";
  return "decay@" + (at ? std::to_string(at) : "now") + ":" + std::to_string(length) +
         (shape == DecayShape::linear ? "" : ":" + std::string(decay_shapes[std::size_t(shape)]));
}

Plan Plan::parse(std::string_view text) {
  if (text == "hold") return hold();
  if (text.starts_with("cosine@")) return cosine(number(text.substr(7), text));
  if (!text.starts_with("decay@")) refuse(text);
  const std::string_view rest = text.substr(6);
  const std::size_t colon = rest.find(':');
  if (colon == rest.npos) refuse(text);
  const std::string_view at = rest.substr(0, colon), tail = rest.substr(colon + 1);
  const std::size_t second = tail.find(':');
  Plan plan = decay(at == "now" ? 0 : number(at, text), number(tail.substr(0, second), text));
  if (second != tail.npos) {
    const auto found = std::find(std::begin(decay_shapes), std::end(decay_shapes), tail.substr(second + 1));
    if (found == std::end(decay_shapes)) refuse(text);
    plan.shape = DecayShape(found - std::begin(decay_shapes));
  }
  return plan;
}

RateBlocks planned_blocks(const TrainingLog& log, const Plan& plan, std::size_t blocks) {
  const Blocks& seen = log.blocks();
  const std::int64_t open = log.last_step() - seen.end, steps = std::int64_t(blocks) * seen.length;
  RateBlocks planned;
  RateBlocker blocker(log.open_rates());
  for (const double rate :
       plan.after(log.last_step(), log.last_rate(), std::max<std::int64_t>(0, steps - open)))
    blocker.add(rate, 1, planned);
  return planned;
}

}  // namespace kolmo::predict
