#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct NearestNeighborsArgs {
  In x;
  OptIn time{};
  Out distance;
  OptOut index{};
  std::int64_t k = 4, theiler = 0;

  static constexpr auto fields() {
    using A = NearestNeighborsArgs;
    return std::array{
        field<&A::x>("x", "n d", reals, "points, one in each row"),
        field<&A::time>("time", "n", DTypes::of(DType::i64),
                        "time of each row, ascending, for the Theiler window; default 0, 1, 2, ...",
                        Domain::ascending)
            .no_matter_for_speed(),
        field<&A::distance>("distance", "n k", DTypes::of(DType::f64), "distances, the nearest first"),
        field<&A::index>("index", "n k", DTypes::of(DType::i64), "rows of the neighbours"),
        option<&A::k>("k", 1, 64, "number of nearest neighbours"),
        option<&A::theiler>("theiler", 0, 1'000'000'000,
                            "rows whose times differ by at most this are no neighbours"),
    };
  }
};

/// The k nearest neighbours of every row of x in the maximum norm, max_c |x[i, c] - x[j, c]|, computed in
/// f64.
///   x: (n, d) with 1 <= d <= 16 and n > k + 2 theiler; distance, index: (n, k)
/// Neither the row itself nor rows whose times differ by at most `theiler` count as neighbours. Of equally
/// near rows the lowest are taken. Same bits on every device. Values that are not finite are reported when
/// the stream is synchronised (Stream::synchronize); the results are then unspecified.
extern const Op<NearestNeighborsArgs> nearest_neighbors;

}  // namespace kolmo
