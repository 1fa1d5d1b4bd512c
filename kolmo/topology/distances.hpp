#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kolmo::topology {

enum class Metric : std::int32_t { euclidean, maximum };
inline constexpr std::string_view metric_names[] = {"euclidean", "maximum"};
constexpr std::span<const std::string_view> names_of(Metric) { return metric_names; }

/// Points as rows of coordinates.
struct Points {
  std::vector<double> values;  ///< count x width, row by row
  std::int64_t width = 1;

  std::int64_t count() const { return width ? std::int64_t(values.size()) / width : 0; }
  std::span<const double> point(std::int64_t i) const {
    return {values.data() + i * width, std::size_t(width)};
  }
};

/// The distances of n points to each other. Infinite ones are of points that are never connected.
class Distances {
 public:
  /// Throws InvalidArgument, which begins with `name`, for no points, a coordinate that is NaN or infinite, points
  /// that are further apart than the largest double, and for more points than the memory of this machine holds the
  /// order of edges of.
  static Distances of_points(const Points& points, Metric metric, int threads, const std::string& name);
  /// Takes a matrix of n x n distances, row by row. Throws InvalidArgument for a matrix that is not square, has
  /// a NaN or a negative distance, has a diagonal other than 0, or is not symmetric: relative differences up to
  /// 1e-9 come from rounding, and the larger of the two is taken.
  static Distances of_matrix(std::span<const double> matrix, std::int64_t rows, std::int64_t columns,
                             const std::string& name);

  std::int64_t count() const { return n_; }
  /// The distances from point i to the points 0 to i - 1.
  const double* to_earlier(std::int64_t i) const { return values_.data() + i * (i - 1) / 2; }
  /// The smallest radius of a ball around one of the points that holds all of them. From there on the complex
  /// is a cone, which has no loops.
  double enclosing_radius() const;

 private:
  Distances(std::int64_t n, const std::string& name);
  double* to_earlier(std::int64_t i) { return values_.data() + i * (i - 1) / 2; }

  std::int64_t n_;
  std::vector<double> values_;
};

/// Bytes that persistence of n points takes before columns are reduced: distances, sorted edges, their ranks and
/// their triangles.
double persistence_bytes(std::int64_t n);

}  // namespace kolmo::topology
