#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct NearestNeighborsArgs {
  In x;
  OptIn set{};
  Out distance;
  OptOut index{};
  std::int64_t k = 4, theiler = 0;

  static constexpr auto fields() {
    using A = NearestNeighborsArgs;
    return std::tuple{
        Field{"x", &A::x, "n d", reals, "points, one in each row"},
        Field{"set", &A::set, "n", DTypes::of(DType::i32),
              "observation set (trial) of each row; default one set"},
        Field{"distance", &A::distance, "n k", DTypes::of(DType::f64), "distances, the nearest first"},
        Field{"index", &A::index, "n k", DTypes::of(DType::i64), "rows of the neighbours"},
        Option{"k", &A::k, 1, 64, "number of nearest neighbours"},
        Option{"theiler", &A::theiler, 0, 1e9, "rows this near in time in the same set are no neighbours"},
    };
  }
};

/// The k nearest neighbours of every row of x in the maximum norm, max_c |x[i, c] - x[j, c]|, computed in
/// f64. x: (n, d) with 1 <= d <= 16 and n > k + 2 theiler; distance, index: (n, k). A row is not its own
/// neighbour, nor are rows of its set at most `theiler` rows away. Of equally near rows the lower ones are
/// taken. NaN is not allowed. Same bits on every device.
extern const Op<NearestNeighborsArgs> nearest_neighbors;

}  // namespace kolmo
