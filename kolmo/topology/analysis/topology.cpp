#include "kolmo/topology/analysis/topology.hpp"

#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kolmo/base/error.hpp"
#include "kolmo/base/number_text.hpp"
#include "kolmo/flow/option/describe.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/topology/diagram_distance.hpp"

namespace kolmo::topology {
namespace {

using Json = nlohmann::ordered_json;
constexpr auto fields = TopologyRequest::fields();

void check(const TopologyRequest& r) {
  const bool rows_are_points =
      r.delay.dimension == 1 && r.delay.delay == 1 && r.delay.every == 1 && !r.delay.normalize && !r.window;
  require(!r.distances || (rows_are_points && r.metric == Metric::euclidean),
          "topology: of distances there are neither series nor coordinates, so dimension, delay, every, "
          "normalize, metric and window have no meaning");
  require(r.window || !r.step, "topology: step is from one window to the next, and there is no window");
  require(r.window || (r.compare == Comparison::bottleneck && r.order == 1),
          "topology: compare and order are of windows, and there is no window");
}

/// The chosen columns, whose values are all there.
std::vector<std::span<const double>> series_of(const TopologyRequest& r, const Table& table) {
  std::vector<std::span<const double>> series;
  for (const std::size_t c : select_columns(table, r.columns.text)) {
    const std::vector<double>& values = table.columns[c];
    for (std::size_t t = 0; t < values.size(); ++t)
      require(!std::isnan(values[t]), table.file + ": " + column_label(table, c) + " has no value in row " +
                                          std::to_string(table.row_of_file(t)) +
                                          " (from 0); fill it in, or leave the row or column out");
    series.emplace_back(values);
  }
  return series;
}

Distances matrix_of(const std::vector<std::span<const double>>& columns, const std::string& name) {
  const std::size_t rows = columns.empty() ? 0 : columns[0].size();
  std::vector<double> matrix;
  matrix.reserve(rows * columns.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (const auto column : columns) matrix.push_back(column[i]);
  return Distances::of_matrix(matrix, std::int64_t(rows), std::int64_t(columns.size()), name);
}

Json intervals(const Diagram& diagram) {
  Json all = Json::array();
  for (const auto& [birth, death] : diagram)
    all.push_back({birth, death < HUGE_VAL ? Json(death) : Json(nullptr)});
  return all;
}

}  // namespace

Interval Window::longest() const {
  Interval longest{0, 0};
  for (const Interval& i : diagrams.h1)
    if (i.persistence() > longest.persistence()) longest = i;
  return longest;
}

std::vector<Window> analyse_topology(const TopologyRequest& r, const Table& table, const Listener& listener) {
  check(r);
  const auto series = series_of(r, table);
  const auto rows = std::int64_t(table.rows());
  const int threads = r.threads ? int(r.threads) : hardware_threads();
  const RipsOptions options{.max_dimension = r.max_dimension, .threshold = r.threshold, .threads = threads};
  if (r.distances) {
    const Distances distances = matrix_of(series, table.file);
    return {{0, rows, distances.count(), rips_persistence(distances, options, listener)}};
  }
  const std::int64_t length = r.window.value_or(rows), step = r.step.value_or(length);
  require(length <= rows, table.file + ": a window has " + std::to_string(length) + " rows, but there are " +
                              std::to_string(rows));
  const auto shape = [&](std::int64_t begin, int own_threads, const Listener& told) {
    const Points points = delay_points(series, begin, begin + length, r.delay, table.file);
    RipsOptions own = options;
    own.threads = own_threads;
    return Window{
        begin, begin + length, points.count(),
        rips_persistence(Distances::of_points(points, r.metric, own_threads, table.file), own, told)};
  };
  const std::int64_t count = rows > 0 ? 1 + (rows - length) / step : 1;
  if (count == 1) return {shape(0, threads, listener)};
  std::vector<Window> windows(std::size_t(count), Window{0, 0, 0, {}});
  std::atomic<std::int64_t> done{0};
  parallel_for(threads, count, [&](std::int64_t w, int thread) {
    windows[std::size_t(w)] = shape(w * step, 1, {});
    const std::int64_t now = ++done;
    if (listener && thread == 0) listener(double(now), double(count));
  });
  parallel_for(threads, count - 1, [&](std::int64_t w, int) {
    const Diagram &before = windows[std::size_t(w)].diagrams.h1,
                  &now = windows[std::size_t(w + 1)].diagrams.h1;
    windows[std::size_t(w + 1)].distance = r.compare == Comparison::bottleneck
                                               ? bottleneck_distance(before, now)
                                               : wasserstein_distance(before, now, r.order);
  });
  return windows;
}

Json topology_json(const std::vector<Window>& windows, const std::string& file) {
  Json all = Json::array();
  for (const Window& w : windows) {
    const Interval longest = w.longest();
    Json j{{"begin", w.begin},
           {"end", w.end},
           {"points", w.points},
           {"threshold", w.diagrams.threshold},
           {"h0", intervals(w.diagrams.h0)},
           {"h1", intervals(w.diagrams.h1)},
           {"longest", intervals({longest})[0]}};
    j["distance"] = w.distance && *w.distance < HUGE_VAL ? Json(*w.distance) : Json(nullptr);
    all.push_back(std::move(j));
  }
  return {{"file", file}, {"windows", std::move(all)}};
}

std::string topology_csv(const std::vector<Window>& windows) {
  std::string text = "begin,dimension,birth,death\n";
  for (const Window& w : windows)
    for (const auto* diagram : {&w.diagrams.h0, &w.diagrams.h1})
      for (const auto& [birth, death] : *diagram)
        text += std::to_string(w.begin) + (diagram == &w.diagrams.h0 ? ",0," : ",1,") + number_text(birth) +
                ',' + number_text(death) + '\n';
  return text;
}

Options topology_options() { return fields; }

Json describe_topology() {
  const TopologyRequest usual;
  return describe(texts_of(TopologyInfo()), fields, &usual);
}

}  // namespace kolmo::topology
