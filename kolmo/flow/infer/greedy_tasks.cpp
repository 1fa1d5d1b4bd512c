#include "kolmo/flow/data/variable_key.hpp"
#include "kolmo/flow/infer/greedy_search.hpp"
#include "kolmo/flow/infer/selected_values.hpp"

namespace kolmo {

std::vector<Coordinates> by_variable(const Coordinates& values) {
  std::vector<Coordinates> parts;
  for (const Coordinate& v : values) {
    const auto part = std::find_if(parts.begin(), parts.end(),
                                   [&](const Coordinates& p) { return p[0].variable == v.variable; });
    if (part == parts.end())
      parts.push_back({v});
    else
      part->push_back(v);
  }
  return parts;
}

Coordinates GreedySearch::condition(std::span<const Coordinate> without) const {
  Coordinates all = options().given;
  const auto add = [&](std::span<const Chosen> chosen) {
    for (const Chosen& c : chosen)
      if (!contains(without, c.value)) all.push_back(c.value);
  };
  add(found_.own_past);
  if (!found_.sources.empty()) add(group().chosen);
  return all;
}

EstimationTask GreedySearch::task(std::vector<Coordinates> x, Coordinates z) const {
  const Series& series = network_.series;
  const auto key = [&](std::int32_t v) { return series.keys[std::size_t(v)]; };
  const bool alone = options().method == NetworkMethod::bivariate && !found_.sources.empty();
  const std::uint64_t of_test =
      numbers_of_test(step_, condition().size(), alone ? key(group().offered[0]) : 0);
  EstimationTask t{series.file + ": " + series.names[std::size_t(found_.target)],
                   std::move(x),
                   {{found_.target, 0}},
                   std::move(z),
                   times_,
                   {}};
  for (const Coordinates& c : t.x)
    t.streams.push_back(
        random_stream(key(found_.target),
                      idtxl() ? mixed(of_test + key(c[0].variable)) + std::uint64_t(c[0].lag) : of_test));
  t.min_shifts.assign(t.x.size(), min_shift_);
  return t;
}

std::uint64_t GreedySearch::numbers_of_test(Step step, std::size_t conditions, std::uint64_t source) {
  const Step own = step == Step::pruning ? Step::each : step;
  return mixed(mixed(std::uint64_t(own) << 8 | conditions) + source);
}

std::vector<EstimationTask> GreedySearch::tasks() const {
  const auto alone = [](const Coordinates& values) {
    std::vector<Coordinates> x;
    for (const Coordinate& v : values) x.push_back({v});
    return x;
  };
  const auto given_others = [&](const std::vector<Coordinates>& parts) {
    std::vector<EstimationTask> all;
    for (const Coordinates& part : parts) all.push_back(task({part}, condition(part)));
    return all;
  };
  switch (step_) {
    case Step::own_past:
    case Step::sources:
      return {task(alone(left_), condition())};
    case Step::pruning:
    case Step::each:
      return given_others(alone(values_of(group().chosen)));
    case Step::links:
      return given_others(by_variable(values_of(group().chosen)));
    case Step::omnibus: {
      const Coordinates all = values_of(group().chosen);
      return {task({all}, condition(all))};
    }
    default:
      return {task({values_of(found_.own_past)}, options().given)};
  }
}

}  // namespace kolmo
