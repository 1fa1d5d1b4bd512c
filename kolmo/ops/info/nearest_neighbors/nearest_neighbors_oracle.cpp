#include <algorithm>
#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/info/nearest_neighbors/nearest_neighbors.hpp"

namespace kolmo::check {
namespace {

// Sorts all pairs (distance, row), which is the order in the definition.
void expected(const NearestNeighborsArgs& a) {
  const std::int64_t n = a.x.extent[0], d = a.x.extent[1];
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<std::pair<long double, std::int64_t>> all;
    for (std::int64_t j = 0; j < n; ++j) {
      const auto time = [&](std::int64_t r) { return a.time.given() ? get(a.time, r) : double(r); };
      if (std::abs(time(i) - time(j)) <= double(a.theiler)) continue;
      long double e = 0;
      for (std::int64_t c = 0; c < d; ++c)
        e = std::max(e, (long double)(std::abs(double(get(a.x, i * d + c)) - double(get(a.x, j * d + c)))));
      all.emplace_back(e, j);
    }
    std::sort(all.begin(), all.end());
    for (std::int64_t c = 0; c < a.k; ++c) {
      put(a.distance, i * a.k + c, all[std::size_t(c)].first);
      if (a.index.given()) put(a.index, i * a.k + c, (long double)(all[std::size_t(c)].second));
    }
  }
}

constexpr Fact facts[] = {
    {"0, 1, 3, 7 on a line: neighbours 1, 0, 1, 3",
     [](Stream& s) {
       double x[] = {0, 1, 3, 7}, distance[4];
       std::int64_t index[4];
       call(nearest_neighbors,
            {.x = tensor(x, {4, 1}),
             .distance = tensor(distance, {4, 1}),
             .index = tensor(index, {4, 1}),
             .k = 1},
            s);
       expect(std::equal(distance, distance + 4, std::begin({1.0, 1.0, 2.0, 4.0})), "wrong distances");
       expect(std::equal(index, index + 4, std::begin<const std::int64_t>({1, 0, 1, 2})), "wrong rows");
     }},
    {"of equally near rows the lower one; the larger coordinate difference counts",
     [](Stream& s) {
       double x[] = {0, 0, 2, 1, -2, 1, 1, 2}, distance[4];
       std::int64_t index[4];
       call(nearest_neighbors,
            {.x = tensor(x, {4, 2}),
             .distance = tensor(distance, {4, 1}),
             .index = tensor(index, {4, 1}),
             .k = 1},
            s);
       expect(distance[0] == 2 && index[0] == 1, "wrong neighbour of the first row");
     }},
    {"a Theiler window of 1 leaves rows two away",
     [](Stream& s) {
       double x[] = {0, 1, 2, 3}, distance[4];
       call(nearest_neighbors,
            {.x = tensor(x, {4, 1}), .distance = tensor(distance, {4, 1}), .k = 1, .theiler = 1}, s);
       expect(std::equal(distance, distance + 4, std::begin({2.0, 2.0, 2.0, 2.0})), "wrong distances");
     }},
    {"too few rows, too many columns",
     [](Stream& s) {
       std::vector<double> x(40), distance(40);
       expect_invalid(
           [&] {
             call(nearest_neighbors,
                  {.x = tensor(x.data(), {4, 1}), .distance = tensor(distance.data(), {4, 4})}, s);
           },
           "needs more than");
       expect_invalid(
           [&] {
             call(nearest_neighbors,
                  {.x = tensor(x.data(), {2, 17}), .distance = tensor(distance.data(), {2, 1}), .k = 1}, s);
           },
           "columns");
     }},
    {"the first value that is not finite is reported",
     [](Stream& s) {
       double x[] = {0, 1, 3, 1 / 0., std::nan(""), 2}, distance[6];
       expect_invalid(
           [&] {
             call(nearest_neighbors, {.x = tensor(x, {6, 1}), .distance = tensor(distance, {6, 1}), .k = 1},
                  s);
           },
           "nearest_neighbors: x is not finite at element 3");
     }},
};

}  // namespace

extern constinit const Oracle<NearestNeighborsArgs> nearest_neighbors_oracle{nearest_neighbors, expected,
                                                                             facts};

}  // namespace kolmo::check
