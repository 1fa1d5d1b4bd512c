#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kolmo/io/table.hpp"
#include "kolmo/topology/analysis/topology_request.hpp"
#include "kolmo/topology/rips.hpp"

namespace kolmo::topology {

/// The persistence of the rows from `begin` to before `end`.
struct Window {
  std::int64_t begin, end, points;
  Diagrams diagrams;
  std::optional<double> distance{};  ///< of the loops from those of the window before

  /// The loop that persists longest, or {0, 0}.
  Interval longest() const;
};

/// Computes the persistence of the points, or of each window of a series. Throws InvalidArgument, naming file, column and
/// row, for a value that is missing; and for options that exclude each other. `listener` is told of windows, or of the
/// columns of the only one.
std::vector<Window> analyse_topology(const TopologyRequest& request, const Table& table,
                                     const Listener& listener = {});

/// The JSON object that the command prints: `windows` is an array with begin, end, points, threshold, h0, h1, longest and
/// distance; a death that never comes is null.
nlohmann::ordered_json topology_json(const std::vector<Window>& windows, const std::string& file);
/// The intervals of all windows as CSV: begin, dimension, birth, death.
std::string topology_csv(const std::vector<Window>& windows);

/// The description of the command `kolmo topology`, in the form in which analyses describe themselves.
struct TopologyInfo {
  static constexpr std::string_view
      name = "topology",
      function = "topology.rips_persistence",
      summary = "The shape of dynamics: components and loops of points, or of windows of a series";
  static constexpr std::string_view about =
      "Persistence of the Vietoris-Rips filtration, which at scale t has every edge of length t or less and "
      "every triangle\n"
      "of such edges: (birth, death) of each component (H0) and loop (H1), over the field of two elements. "
      "A periodic\nseries has a loop that persists; where regimes change, so do the loops of windows.";
  static constexpr std::string_view example =
      "kolmo topology data.csv --columns 1 --dimension 12 --delay 3 --window 400 --step 100";
  static constexpr std::string_view source =
      "Bauer, J. Appl. Comput. Topol. 5, 391 (2021); Perea, Harer, Found. Comput. Math. 15, 799 (2015)";
};
Options topology_options();
nlohmann::ordered_json describe_topology();

}  // namespace kolmo::topology
