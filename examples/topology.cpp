// Topology of a series: a rhythm is a loop of its delay vectors that persists, and noise has none. Where the rhythm
// breaks off and where it comes back, the loops of sliding windows change.
#include <algorithm>
#include <cmath>
#include <random>

#include "examples/plot.hpp"
#include "kolmo/topology/diagram_distance.hpp"
#include "kolmo/topology/rips.hpp"
#include "kolmo/topology/windows.hpp"

int main(int argc, char** argv) {
  using namespace kolmo::topology;
  using example::Numbers;
  constexpr std::int64_t rows = 3000, breaks = 1000, returns = 2000, length = 300, step = 50;
  std::mt19937 random(1);
  std::normal_distribution<double> noise;
  Numbers series;
  for (std::int64_t t = 0; t < rows; ++t) {
    const bool rhythm = t < breaks || t >= returns;
    series.push_back(rhythm ? std::sin(0.15 * double(t)) + 0.1 * noise(random) : 0.7 * noise(random));
  }
  const std::span<const double> column(series);
  const DelayOptions delay{.dimension = 12, .delay = 4, .normalize = true};
  Numbers at, longest, change;
  Diagram before;
  for (std::int64_t begin = 0; begin + length <= rows; begin += step) {
    const Points points = delay_points({&column, 1}, begin, begin + length, delay, "series");
    const Diagram loops =
        rips_persistence(Distances::of_points(points, Metric::euclidean, 1, "series"), {}).h1;
    double most = 0;
    for (const Interval& loop : loops) most = std::max(most, loop.persistence());
    at.push_back(double(begin + length)), longest.push_back(most);
    change.push_back(begin ? bottleneck_distance(before, loops) : 0);
    before = loops;
  }
  int right = 0, changes = 0;
  double change_in_regime = 0, change_between = 0;
  for (std::size_t w = 0; w < at.size(); ++w) {
    const auto end = std::int64_t(at[w]), begin = end - length;
    const bool rhythm = end <= breaks || begin >= returns, none = begin >= breaks && end <= returns;
    right += (rhythm && longest[w] > 0.6) || (none && longest[w] < 0.6);
    changes += rhythm || none;
    const bool steady = (end <= breaks || begin >= returns + step) && w > 0;
    double& most = steady ? change_in_regime : change_between;
    most = std::max(most, change[w]);
  }
  example::Plot plot("Loops of sliding windows: a rhythm that breaks off at 1000 and returns at 2000",
                     "last row of the window", "", {0, double(rows)}, {0, 1.5});
  for (const double row : {breaks, returns}) plot.line({row, row}, {0, 1.5}, "", "#999", true);
  plot.line(at, longest, "persistence of the longest loop", "#2471a3");
  plot.line(at, change, "bottleneck distance from the window before", "#c0392b");
  plot.save(argc > 1 ? argv[1] : nullptr);
  std::printf(
      "%d of %d windows within a regime are told apart by their longest loop; the loops change by up to %.2f "
      "from one\n"
      "window of the rhythm to the next, and by up to %.2f around its end and return\n",
      right, changes, change_in_regime, change_between);
  return right == changes && change_between > 2 * change_in_regime ? 0 : 1;
}
