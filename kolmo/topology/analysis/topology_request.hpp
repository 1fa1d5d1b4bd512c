#pragma once
#include <limits>
#include <optional>

#include "kolmo/flow/option/option.hpp"
#include "kolmo/topology/windows.hpp"

namespace kolmo::topology {

enum class Comparison : std::int32_t { bottleneck, wasserstein };
inline constexpr std::string_view comparison_names[] = {"bottleneck", "wasserstein"};
constexpr std::span<const std::string_view> names_of(Comparison) { return comparison_names; }

/// The options of `kolmo topology`.
struct TopologyRequest {
  Columns columns;
  bool distances = false;
  DelayOptions delay;
  Metric metric = Metric::euclidean;
  std::int64_t max_dimension = 1;
  std::optional<double> threshold;
  std::optional<std::int64_t> window, step;
  Comparison compare = Comparison::bottleneck;
  double order = 1;
  std::int64_t threads = 0;

  static constexpr auto fields() {
    using R = TopologyRequest;
    constexpr std::int64_t most = std::int64_t(1) << 40;
    constexpr double largest = std::numeric_limits<double>::max();
    return join(
        list_of(columns_option<&R::columns>("columns", "coordinates, or series; all if none are named")
                    .for_files(),
                value_option<&R::distances>("distances",
                                            "the data are the distances of points, a square matrix")),
        within<&R::delay>(
            list_of(value_option<&DelayOptions::dimension>(
                        "dimension", 1, 10000, "rows whose values a point has; 1: a row is a point"),
                    value_option<&DelayOptions::delay>("delay", 1, most, "rows between them"),
                    value_option<&DelayOptions::every>("every", 1, most, "rows from one point to the next"),
                    value_option<&DelayOptions::normalize>("normalize",
                                                           "each point less its mean, over its length: the "
                                                           "shape of a series without level and amplitude"))),
        list_of(
            value_option<&R::metric>("metric", "the distance of two points"),
            value_option<&R::max_dimension>("max_dimension", 0, 1, "0: components (H0); 1: loops (H1), too"),
            value_option<&R::threshold>("threshold", 0.0, largest, "the scale at which the filtration ends")
                .if_left_out("the enclosing radius, beyond which there are no loops"),
            value_option<&R::window>("window", 1, most,
                                     "rows of a window, each of which has diagrams of its own")
                .if_left_out("all rows are one window"),
            value_option<&R::step>("step", 1, most, "rows from one window to the next").if_left_out("window"),
            value_option<&R::compare>("compare",
                                      "distance of the loops of a window from those of the window before"),
            value_option<&R::order>("order", 1.0, largest, "order of the distance wasserstein"),
            value_option<&R::threads>("threads", 0, 4096, "CPU threads; 0: every core").beside_the_result()));
  }
};

}  // namespace kolmo::topology
