#include "kolmo/flow/infer/drawn.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "kolmo/base/whole.hpp"
#include "kolmo/io/json.hpp"

namespace kolmo {
namespace {

using nlohmann::json;

std::vector<double> numbers(const json& list) {
  std::vector<double> all;
  for (const json& j : list)
    all.push_back(j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>());
  return all;
}

}  // namespace

Drawn Drawn::of(std::span<const Estimates> tasks, bool largest) {
  Drawn d;
  d.draws = tasks[0].draws.count;
  for (const Estimates& e : tasks) {
    for (std::size_t a = 0; a < e.different.size(); ++a) {
      if (e.draws.observed()) d.observed.push_back(e.observed(a));
      const auto s = e.surrogate(a);
      d.surrogates.emplace_back(s.begin(), s.end());
      d.exhausted |= e.different[a] < e.draws.surrogates();
    }
    d.analytic.insert(d.analytic.end(), e.p_values.begin(), e.p_values.end());
  }
  if (largest) d.surrogates = {largest_of_draws(d.surrogates)};
  return d;
}

void Drawn::append(Drawn part) {
  if (draws == 0) {
    *this = std::move(part);
    return;
  }
  for (std::size_t a = 0; a < surrogates.size(); ++a)
    surrogates[a].insert(surrogates[a].end(), part.surrogates[a].begin(), part.surrogates[a].end());
  draws += part.draws, exhausted |= part.exhausted;
}

std::string Drawn::record() const { return json{observed, analytic, surrogates, draws, exhausted}.dump(); }

Drawn Drawn::from_record(const std::string& text) {
  try {
    const json j = parse_json(text, "checkpoint: a record");
    Drawn d{numbers(j.at(0)), numbers(j.at(1)), {}, whole<std::int64_t>(j.at(3)), j.at(4).get<bool>()};
    for (const json& row : j.at(2)) d.surrogates.push_back(numbers(row));
    return d;
  } catch (const json::exception& e) {
    fail<InvalidArgument>(std::string("checkpoint: a record is not what it should be: ") + e.what());
  }
}

}  // namespace kolmo
