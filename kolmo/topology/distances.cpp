#include "kolmo/topology/distances.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "kolmo/base/error.hpp"
#include "kolmo/base/number_text.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo::topology {
namespace {

constexpr std::int64_t most_points = 92681;  // whose edges have ranks of 32 bits

double largest_difference(std::span<const double> a, std::span<const double> b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::fabs(a[k] - b[k]));
  return largest;
}

/// The Euclidean distance of points whose squared differences overflow or vanish: differences are divided by a power of two.
double scaled_distance(std::span<const double> a, std::span<const double> b) {
  const double largest = largest_difference(a, b);
  if (largest == 0 || largest == HUGE_VAL) return largest;
  const int scale = std::ilogb(largest);
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double difference = std::scalbn(a[k] - b[k], -scale);
    sum += difference * difference;
  }
  return std::scalbn(std::sqrt(sum), scale);
}

double distance(std::span<const double> a, std::span<const double> b, Metric metric) {
  if (metric == Metric::maximum) return largest_difference(a, b);
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  constexpr double least = 0x1p-960;  // squares that vanish are below the last digit of such a sum
  return sum >= least && sum < HUGE_VAL ? std::sqrt(sum) : scaled_distance(a, b);
}

std::string place(std::int64_t row, std::int64_t column) {
  return "row " + std::to_string(row) + ", column " + std::to_string(column);
}

/// Throws InvalidArgument, naming the first pair of points whose distance is infinite.
void require_finite(const Distances& d, const std::string& name) {
  for (std::int64_t i = 0; i < d.count(); ++i)
    for (std::int64_t j = 0; j < i; ++j)
      if (d.to_earlier(i)[j] == HUGE_VAL)
        fail<InvalidArgument>(
            name + ": points " + std::to_string(j) + " and " + std::to_string(i) +
            " (from 0) are further apart than the largest double; divide the data by a power of ten");
}

}  // namespace

double persistence_bytes(std::int64_t n) {
  const double edges = double(n) * double(n - 1) / 2;
  constexpr double distance = sizeof(double), sorted = 16, triangle = 4, rank = 4;
  return edges * (distance + sorted + triangle) + double(n) * double(n) * rank;
}

Distances::Distances(std::int64_t n, const std::string& name) : n_(n) {
  require(n > 0, name + ": there are no points");
  require(n <= most_points, name + ": " + std::to_string(n) + " points; at most " +
                                std::to_string(most_points) + " are possible");
  const double there = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
  if (const double needed = persistence_bytes(n); needed > there)
    fail<OutOfMemory>(name + ": " + std::to_string(n) + " points need " + significant_text(needed / 1e9, 3) +
                      " GB, and this machine has " + significant_text(there / 1e9, 3) +
                      " GB; take every 2nd point or fewer");
  values_.resize(std::size_t(n * (n - 1) / 2));
}

Distances Distances::of_points(const Points& points, Metric metric, int threads, const std::string& name) {
  Distances d(points.count(), name);
  require(points.width > 0, name + ": the points have no coordinates");
  for (std::size_t i = 0; i < points.values.size(); ++i)
    if (!std::isfinite(points.values[i]))
      fail<InvalidArgument>(
          name + ": " + place(std::int64_t(i) / points.width, std::int64_t(i) % points.width) + " is " +
          (std::isnan(points.values[i]) ? "NaN" : "infinite") + "; leave the row out or fill the value in");
  std::atomic<bool> beyond{false};
  parallel_for(threads, d.n_, [&](std::int64_t i, int) {
    double* const row = d.to_earlier(i);
    for (std::int64_t j = 0; j < i; ++j) row[j] = distance(points.point(i), points.point(j), metric);
    if (std::find(row, row + i, HUGE_VAL) != row + i) beyond = true;
  });
  if (beyond) require_finite(d, name);
  return d;
}

Distances Distances::of_matrix(std::span<const double> matrix, std::int64_t rows, std::int64_t columns,
                               const std::string& name) {
  require(rows == columns, name + ": a matrix of distances is square, but this one has " +
                               std::to_string(rows) + " rows and " + std::to_string(columns) + " columns");
  Distances d(rows, name);
  const auto at = [&](std::int64_t i, std::int64_t j) { return matrix[std::size_t(i * columns + j)]; };
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      const double a = at(i, j), b = at(j, i);
      require(!std::isnan(a), name + ": " + place(i, j) + " is NaN");
      require(!std::isnan(b), name + ": " + place(j, i) + " is NaN");
      require(a >= 0, name + ": " + place(i, j) + " is negative, which no distance is");
      require(i != j || a == 0, name + ": " + place(i, i) + " is not 0, the distance of a point to itself");
      require(a == b || std::fabs(a - b) <= 1e-9 * std::max(a, b),
              name + ": is not symmetric: " + place(i, j) + " is " + number_text(a) + ", but " + place(j, i) +
                  " is " + number_text(b));
      if (j < i) d.to_earlier(i)[j] = std::max(a, b);
    }
  }
  return d;
}

double Distances::enclosing_radius() const {
  std::vector<double> farthest(std::size_t(n_), 0.0);
  for (std::int64_t i = 0; i < n_; ++i) {
    const double* const row = to_earlier(i);
    double own = farthest[std::size_t(i)];
    for (std::int64_t j = 0; j < i; ++j) {
      own = std::max(own, row[j]);
      farthest[std::size_t(j)] = std::max(farthest[std::size_t(j)], row[j]);
    }
    farthest[std::size_t(i)] = own;
  }
  return *std::ranges::min_element(farthest);
}

}  // namespace kolmo::topology
