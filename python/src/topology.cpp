#include "kolmo/topology/analysis/topology.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kolmo/topology/diagram_distance.hpp"
#include "python/src/analysis_options.hpp"
#include "python/src/module.hpp"
#include "python/src/wait.hpp"

namespace kolmo::python {
namespace {

using namespace topology;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Diagram diagram_of(const Rows& rows) {
  Diagram diagram(rows.shape(0));
  for (std::size_t i = 0; i < diagram.size(); ++i) diagram[i] = {rows.data()[2 * i], rows.data()[2 * i + 1]};
  return diagram;
}

nb::bytes bytes_of(const Diagram& diagram) {
  return nb::bytes(diagram.data(), diagram.size() * sizeof(Interval));
}

/// Each window as a tuple: begin, end, points, threshold, H0 and H1 as bytes of numbers, distance or NaN.
nb::list windows(const Rows& values, const nb::dict& options, const std::string& name, nb::object progress) {
  TopologyRequest request;
  for (const auto& [key, value] : options) {
    const auto option = nb::cast<std::string>(key);
    set_option(find_option(topology_options(), option, "topology"), &request, option, value);
  }
  Table table;
  table.file = name;
  const std::size_t rows = values.shape(0), columns = values.shape(1);
  table.columns.assign(columns, std::vector<double>(rows));
  table.faults.resize(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    table.names.push_back(std::to_string(c));
    for (std::size_t t = 0; t < rows; ++t) table.columns[c][t] = values.data()[t * columns + c];
  }
  std::vector<Window> found;
  wait_for(
      [&](Advance& advance) {
        found = analyse_topology(
            request, table, [&](double done, double total) { advance.done = done, advance.total = total; });
      },
      progress);
  nb::list all;
  for (const Window& w : found)
    all.append(nb::make_tuple(w.begin, w.end, w.points, w.diagrams.threshold, bytes_of(w.diagrams.h0),
                              bytes_of(w.diagrams.h1), w.distance.value_or(std::nan(""))));
  return all;
}

/// A distance, computed where Python can interrupt it.
template <class F>
double distance(const F& compute) {
  double found = 0;
  wait_for([&](Advance&) { found = compute(); }, nb::none());
  return found;
}

}  // namespace

void add_topology(nb::module_& module) {
  using namespace nb::literals;
  module.def("topology", windows, "values"_a, "options"_a, "name"_a, "progress"_a.none(),
             "The persistence of each window of the rows, with options by name.");
  module.def("describe_topology", [] { return describe_topology().dump(); });
  module.def(
      "bottleneck_distance",
      [](const Rows& a, const Rows& b) {
        const Diagram first = diagram_of(a), second = diagram_of(b);
        return distance([&] { return bottleneck_distance(first, second); });
      },
      "a"_a, "b"_a);
  module.def(
      "wasserstein_distance",
      [](const Rows& a, const Rows& b, double order) {
        const Diagram first = diagram_of(a), second = diagram_of(b);
        return distance([&] { return wasserstein_distance(first, second, order); });
      },
      "a"_a, "b"_a, "order"_a);
}

}  // namespace kolmo::python
