#include "kolmo/ops/info/nearest_neighbors/nearest_neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kolmo/knn/finite.hpp"
#include "kolmo/knn/theiler.hpp"
#include "kolmo/op/define.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {

constexpr std::int64_t max_k = 64, max_d = 16;

void check(const NearestNeighborsArgs& a) {
  const std::int64_t n = a.x.extent[0], d = a.x.extent[1];
  if (d < 1 || d > max_d)
    fail<InvalidArgument>("nearest_neighbors: x has " + std::to_string(d) + " columns, accepted are 1 to 16");
  if (n && n <= a.k + 2 * a.theiler)
    fail<InvalidArgument>("nearest_neighbors: x has " + std::to_string(n) +
                          " rows, needs more than k + 2 theiler = " + std::to_string(a.k + 2 * a.theiler));
}

/// The rows in the order of their first column. The columns of a point are stored contiguously.
template <class T>
struct Sorted {
  std::int64_t n, d;
  std::int64_t* row;
  T* point;

  /// Lays out the arrays. An arena without memory only counts their bytes.
  Sorted(const NearestNeighborsArgs& a, Arena& arena)
      : n(a.x.dim(0)), d(a.x.dim(1)), row(arena.take<std::int64_t>(n)), point(arena.take<T>(n * d)) {}

  void sort(const T* x) {
    std::iota(row, row + n, std::int64_t(0));
    std::sort(row, row + n, [&](std::int64_t i, std::int64_t j) {
      return x[i * d] < x[j * d] || (x[i * d] == x[j * d] && i < j);
    });
    for (std::int64_t i = 0; i < n; ++i) std::copy_n(x + row[i] * d, d, point + i * d);
  }
  double first(std::int64_t i, std::int64_t j) const {
    return std::fabs(double(point[i * d]) - double(point[j * d]));
  }
};

/// Holds the k nearest rows so far, ordered by distance, then by row.
struct Best {
  explicit Best(std::int64_t wanted) : k(wanted) {}
  std::int64_t k, count = 0;
  double distance[max_k];
  std::int64_t row[max_k];

  double worst() const { return count < k ? HUGE_VAL : distance[k - 1]; }
  void add(double e, std::int64_t j) {
    if (count == k && (e > distance[k - 1] || (e == distance[k - 1] && j > row[k - 1]))) return;
    std::int64_t p = count < k ? count++ : k - 1;
    for (; p > 0 && (distance[p - 1] > e || (distance[p - 1] == e && row[p - 1] > j)); --p)
      distance[p] = distance[p - 1], row[p] = row[p - 1];
    distance[p] = e, row[p] = j;
  }
};

/// Searches from a point outwards along the first column, the nearer side first, until no nearer point is
/// possible.
template <class T>
void find(const NearestNeighborsArgs& a, const Sorted<T>& s, std::int64_t i) {
  const auto* time = a.time.as<std::int64_t>();
  const std::int64_t me = s.row[i];
  Best best(a.k);
  const auto visit = [&](std::int64_t p) {
    const std::int64_t j = s.row[p];
    if (in_theiler_window(me, j, time, a.theiler)) return;
    double e = 0;
    for (std::int64_t c = 0; c < s.d; ++c)
      e = std::max(e, std::fabs(double(s.point[p * s.d + c]) - double(s.point[i * s.d + c])));
    best.add(e, j);
  };
  for (std::int64_t low = i - 1, high = i + 1;;) {
    const double down = low >= 0 ? s.first(i, low) : HUGE_VAL, up = high < s.n ? s.first(i, high) : HUGE_VAL;
    if (low < 0 && high >= s.n) break;
    if (std::min(down, up) > best.worst()) break;
    visit(down <= up ? low-- : high++);
  }
  std::copy_n(best.distance, a.k, a.distance.as<double>() + me * a.k);
  if (a.index.given()) std::copy_n(best.row, a.k, a.index.as<std::int64_t>() + me * a.k);
}

void cpu(const NearestNeighborsArgs& a, Arena scratch, Stream& stream, int) {
  visit<double, float>(a.x.dtype, [&]<class T> {
    if (!check_finite(stream.status(), 0, a.x.as<T>(), 0, a.x.size())) return;
    if (!check_ascending(stream.status(), 1, a.time.as<std::int64_t>(), 0, a.x.dim(0))) return;
    Sorted<T> s(a, scratch);
    s.sort(a.x.as<T>());
    constexpr std::int64_t chunk = 256;
    parallel_for(stream.threads(), (s.n + chunk - 1) / chunk, [&](std::int64_t c, int) {
      for (std::int64_t i = c * chunk; i < std::min(s.n, (c + 1) * chunk); ++i) find(a, s, i);
    });
  });
}

void lay(Arena& arena, const NearestNeighborsArgs& a, const Site&) {
  visit<double, float>(a.x.dtype, [&]<class T> { Sorted<T>(a, arena); });
}

// Draws points on a grid, which have many equal distances.
void on_a_grid(NearestNeighborsArgs& a) {
  visit<double, float>(a.x.dtype, [&]<class T> {
    T* x = a.x.as<T>();
    for (std::int64_t i = 0; i < a.x.size(); ++i) x[i] = T(std::floor(double(x[i]) * 2));
  });
}

constexpr Case<NearestNeighborsArgs> cases[] = {
    {.name = "n=200 d=2 k=4", .sizes = {{"n", 200}, {"d", 2}}, .optional = "index"},
    {.name = "n=7 d=1 k=1, the fewest rows",
     .sizes = {{"n", 7}, {"d", 1}},
     .optional = "index",
     .setup = [](NearestNeighborsArgs& a) { a.k = 2, a.theiler = 2; }},
    {.name = "n=333 d=5 k=64 f32",
     .sizes = {{"n", 333}, {"d", 5}},
     .dtype = DType::f32,
     .optional = "index",
     .setup = [](NearestNeighborsArgs& a) { a.k = 64; }},
    {.name = "n=300 d=3 k=5 theiler=7, times with gaps",
     .sizes = {{"n", 300}, {"d", 3}},
     .optional = "index time",
     .setup =
         [](NearestNeighborsArgs& a) {
           a.k = 5, a.theiler = 7;
           for (std::int64_t i = 0; i < 300; ++i) a.time.as<std::int64_t>()[i] = i + i / 100 * 4;
         }},
    {.name = "n=400 d=2 k=6, equal distances",
     .sizes = {{"n", 400}, {"d", 2}},
     .optional = "index",
     .setup =
         [](NearestNeighborsArgs& a) {
           a.k = 6;
           on_a_grid(a);
         }},
    {.name = "n=64 d=2 k=4, distances alone", .sizes = {{"n", 64}, {"d", 2}}},
    {.name = "n=100000 d=3", .sizes = {{"n", 100000}, {"d", 3}}, .benchmark_only = true},
};

constexpr std::string_view faults[] = {"x is not finite", "time does not ascend"};

constinit const Definition<NearestNeighborsArgs> definition{
    {.name = "nearest_neighbors",
     .summary = "k nearest neighbours of every row in the maximum norm",
     .source = "definition",
     .determinism = Determinism::everywhere,
     .faults = faults},
    {.check = check,
     .flops = [](const NearestNeighborsArgs& a) { return 2.0 * double(a.x.size()) * double(a.k); },
     .cases = cases}};

}  // namespace

constinit const Op<NearestNeighborsArgs> nearest_neighbors{definition};
extern constinit const Impl<NearestNeighborsArgs> nearest_neighbors_cpu{{.launch = cpu, .lay = lay}};

}  // namespace kolmo
