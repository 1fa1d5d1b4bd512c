#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "kolmo/base/arena.hpp"
#include "kolmo/knn/finite.hpp"
#include "kolmo/knn/ksg_problem.hpp"
#include "kolmo/op/define.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {

using Args = KsgConditionalMutualInformationArgs;
using knn::KsgProblem;

int columns(const Tensor& t) { return t.given() ? int(t.extent[std::size_t(t.rank - 1)]) : 0; }
std::int64_t problems(const Args& a) { return a.segments.given() ? a.segments.extent[0] - 1 : 1; }

void check(const Args& a) {
  for (const Tensor* t : {static_cast<const Tensor*>(&a.x), static_cast<const Tensor*>(&a.y)})
    require(columns(*t) >= 1 && columns(*t) <= 16, "x and y have 1 to 16 columns");
  require(!a.z.given() || (columns(a.z) >= 1 && columns(a.z) <= 16), "z has 1 to 16 columns");
  const std::int64_t n = a.y.extent[0];
  require(n < std::int64_t(1) << 31, "at most 2^31 - 1 rows");
  require(!a.segments.given() || a.segments.extent[0] >= 2, "segments has at least two offsets");
  require(a.first == 0 || !a.local.given(), "local values are of the observed data, where first is 0");
  require_blocks("ksg_conditional_mutual_information", a, n);
  if (!a.segments.given()) require_rows("ksg_conditional_mutual_information", n, a.k, a.theiler);
}

void sizes(const Args& a, Dims& dims) {
  const std::int64_t t = problems(a);
  if (dims.has("t") && dims["t"] != t)
    fail<InvalidArgument>("ksg_conditional_mutual_information: " +
                          std::string(a.streams.given()      ? "streams"
                                      : a.min_shifts.given() ? "min_shifts"
                                                             : "value") +
                          " has " + std::to_string(dims["t"]) + " rows for " + std::to_string(t) +
                          " problems");
  if (!dims.has("t")) dims.set("t", t);
  dims.set("e", 1 + a.surrogates);
}

double flops(const Args& a) {
  return ksg_flops(a, a.x.extent[0], a.y.extent[0], columns(a.x) + columns(a.y) + columns(a.z));
}

struct Rows {
  std::int64_t begin, end;
};
/// The rows of a problem. Offsets may be invalid, or not available while only sizes are known; the result is
/// always in range.
Rows rows_of(const Args& a, std::int64_t index) {
  const std::int64_t n = a.y.extent[0];
  if (!a.segments.given() || !a.segments.data) return {0, n};
  const std::int64_t* at = a.segments.as<std::int64_t>();
  const std::int64_t begin = std::clamp<std::int64_t>(at[index], 0, n);
  return {begin, std::clamp(at[index + 1], begin, n)};
}

template <class T>
KsgProblem<T> problem(const Args& a, std::int64_t index) {
  const auto [begin, end] = rows_of(a, index);
  KsgProblem<T> p;
  p.n = end - begin, p.b = a.x.extent[0], p.x_step = a.x.extent[1] * columns(a.x);
  p.dx = columns(a.x), p.dy = columns(a.y), p.dz = columns(a.z);
  p.x = a.x.as<T>() + begin * p.dx, p.y = a.y.as<T>() + begin * p.dy;
  if (p.dz) p.z = a.z.as<T>() + begin * p.dz;
  if (a.time.given()) p.time = a.time.as<std::int64_t>() + begin;
  if (a.streams.given()) p.streams = a.streams.as<std::int64_t>() + index * p.b;
  p.first_stream = index * p.b;
  if (a.min_shifts.given()) p.min_shifts = a.min_shifts.as<std::int64_t>() + index * p.b;
  p.k = a.k, p.theiler = a.theiler, p.surrogates = a.surrogates, p.algorithm = a.algorithm;
  p.surrogate_options = surrogate_options(a);
  p.value = a.value.as<double>() + index * p.b * p.estimates();
  if (a.local.given()) p.local = a.local.as<double>() + begin, p.local_step = a.local.extent[1];
  return p;
}

/// Lays out the workspace of the problem that needs the most. How a problem is computed depends on its size,
/// so all problems are tried.
template <class T>
void lay_problems(Arena& arena, const Args& a, int threads) {
  std::size_t most = 0;
  for (std::int64_t i = 0; i < problems(a); ++i) {
    KsgProblem<T> p = problem<T>(a, i);
    p.n = std::max<std::int64_t>(p.n, 1);  // offsets are checked later
    Arena trees, lanes;
    trees_layout(p, trees, threads);
    if (lanes_fit(p)) lanes_layout(p, lanes, threads);
    most = std::max({most, trees.used(), lanes.used()});
  }
  arena.take<std::byte>(std::int64_t(most));
}

void lay(Arena& arena, const Args& a, const Site& site) {
  visit<double, float>(a.x.dtype, [&]<class T> { lay_problems<T>(arena, a, site.threads); });
}

/// Checks that segment offsets ascend from 0 to n.
bool check_segments(const Args& a, const Status& status) {
  if (!a.segments.given()) return true;
  const std::int64_t *at = a.segments.as<std::int64_t>(), t = problems(a);
  for (std::int64_t i = 0; i <= t; ++i)
    if ((i == 0 && at[i] != 0) || (i == t && at[i] != a.y.extent[0]) || (i < t && at[i] > at[i + 1])) {
      status.report(int(KsgFault::segments), i);
      return false;
    }
  return true;
}

/// Checks that a problem has enough rows and that they are finite.
template <class T>
bool check_data(const Args& a, std::int64_t index, const Status& status) {
  const auto [begin, end] = rows_of(a, index);
  bool right = end - begin > a.k + 2 * a.theiler;
  if (!right) status.report(int(KsgFault::rows), index);
  const auto finite = [&, first = begin, last = end](KsgFault fault, const Tensor& t, std::int64_t from) {
    const std::int64_t d = columns(t);
    right &= check_finite(status, int(fault), t.as<T>(), from + first * d, from + last * d);
  };
  for (std::int64_t b = 0; b < a.x.extent[0]; ++b) finite(KsgFault::x, a.x, b * a.x.extent[1] * columns(a.x));
  finite(KsgFault::y, a.y, 0);
  right &= check_ascending(status, int(KsgFault::time), a.time.as<std::int64_t>(), begin, end);
  if (a.z.given()) finite(KsgFault::z, a.z, 0);
  return right;
}

template <class T>
void fill_nan(const KsgProblem<T>& p) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::fill_n(p.value, p.b * p.estimates(), nan);
  for (std::int64_t b = 0; p.local && b < p.b; ++b) std::fill_n(p.local + b * p.local_step, p.n, nan);
}

void cpu(const Args& a, Arena scratch, Stream& stream, int) {
  const Status status = stream.status();
  const bool in_order = check_segments(a, status);
  visit<double, float>(a.x.dtype, [&]<class T> {
    for (std::int64_t i = 0; i < problems(a); ++i) {
      const KsgProblem<T> p = problem<T>(a, i);
      if (!in_order || !check_data<T>(a, i, status)) {
        fill_nan(p);
        continue;
      }
      const bool in_lanes = lanes_fit(p);
      if (in_lanes) lanes(p, scratch, stream.threads());
      if (!in_lanes || p.local) trees(p, in_lanes, scratch, stream.threads());
    }
  });
}

// Estimates equal those of the oracle except for the rounding of its long double digamma sums to f64.
constexpr double rounding = 1e-13;
constexpr Case<Args> cases[] = {
    {.name = "n=60 1,1,1",
     .sizes = {{"b", 1}, {"n", 60}, {"dx", 1}, {"dy", 1}, {"dz", 1}},
     .tolerance = rounding,
     .optional = "z local"},
    {.name = "n=60 1,1",
     .sizes = {{"b", 1}, {"n", 60}, {"dx", 1}, {"dy", 1}},
     .tolerance = rounding,
     .optional = "local"},
    {.name = "n=75 2,1,2 b=2 surrogates=3",
     .sizes = {{"b", 2}, {"n", 75}, {"dx", 2}, {"dy", 1}, {"dz", 2}},
     .tolerance = rounding,
     .optional = "z",
     .setup = [](Args& a) { a.surrogates = 3, a.seed = 5; }},
    {.name = "n=70 1,1,1 surrogates=9",
     .sizes = {{"b", 1}, {"n", 70}, {"dx", 1}, {"dy", 1}, {"dz", 1}},
     .tolerance = rounding,
     .optional = "z local",
     .setup = [](Args& a) { a.surrogates = 9, a.k = 3, a.surrogate_type = SurrogateType::block; }},
    {.name = "n=64 1,2 theiler=3 surrogates=5 circular",
     .sizes = {{"b", 1}, {"n", 64}, {"dx", 1}, {"dy", 2}},
     .tolerance = rounding,
     .setup = [](Args& a) { a.surrogates = 5, a.theiler = 3, a.surrogate_type = SurrogateType::circular; }},
    {.name = "n=64 1,1,1 surrogates=60 circular, from 5",
     .sizes = {{"b", 1}, {"n", 64}, {"dx", 1}, {"dy", 1}, {"dz", 1}},
     .tolerance = rounding,
     .optional = "z",
     .setup =
         [](Args& a) { a.surrogates = 60, a.min_shift = 5, a.surrogate_type = SurrogateType::circular; }},
    {.name = "n=64 1,1,1 estimates 7 to 40 circular",
     .sizes = {{"b", 1}, {"n", 64}, {"dx", 1}, {"dy", 1}, {"dz", 1}},
     .tolerance = rounding,
     .optional = "z",
     .setup = [](Args& a) { a.surrogates = 33, a.first = 7, a.surrogate_type = SurrogateType::circular; }},
    {.name = "n=75 2,1,2 b=2 estimates 3 to 5",
     .sizes = {{"b", 2}, {"n", 75}, {"dx", 2}, {"dy", 1}, {"dz", 2}},
     .tolerance = rounding,
     .optional = "z",
     .setup = [](Args& a) { a.surrogates = 2, a.first = 3, a.surrogate_type = SurrogateType::block; }},
    {.name = "n=63 1,1,1 surrogates=40, 9 trials",
     .sizes = {{"b", 1}, {"n", 63}, {"dx", 1}, {"dy", 1}, {"dz", 1}},
     .tolerance = rounding,
     .optional = "z",
     .setup =
         [](Args& a) { a.surrogates = 40, a.block_length = 7, a.surrogate_type = SurrogateType::trials; }},
    {.name = "n=60 ksg2 2,2,1 theiler=2",
     .sizes = {{"b", 1}, {"n", 60}, {"dx", 2}, {"dy", 2}, {"dz", 1}},
     .tolerance = rounding,
     .optional = "z local",
     .setup = [](Args& a) { a.algorithm = KsgAlgorithm::ksg2, a.theiler = 2, a.k = 7; }},
    {.name = "n=50 ksg2 1,1 surrogates=2",
     .sizes = {{"b", 1}, {"n", 50}, {"dx", 1}, {"dy", 1}},
     .tolerance = rounding,
     .setup = [](Args& a) { a.algorithm = KsgAlgorithm::ksg2, a.surrogates = 2; }},
    {.name = "n=100 times with gaps k=20 3,3,3",
     .sizes = {{"b", 1}, {"n", 100}, {"dx", 3}, {"dy", 3}, {"dz", 3}},
     .tolerance = rounding,
     .optional = "z time",
     .setup =
         [](Args& a) {
           a.k = 20, a.theiler = 4;
           for (int i = 0; i < 100; ++i) a.time.as<std::int64_t>()[i] = i + i / 30 * 3;
         }},
    {.name = "segments 40, 56, 50 f32",
     .sizes = {{"b", 3}, {"n", 146}, {"dx", 1}, {"dy", 1}, {"dz", 1}, {"t1", 4}},
     .dtype = DType::f32,
     .tolerance = rounding,
     .optional = "z segments",
     .setup =
         [](Args& a) {
           a.surrogates = 4;
           const std::int64_t offsets[] = {0, 40, 96, 146};
           for (int i = 0; i < 4; ++i) a.segments.as<std::int64_t>()[i] = offsets[i];
         }},
    {.name = "16 segments of 12",
     .sizes = {{"b", 2}, {"n", 192}, {"dx", 1}, {"dy", 1}, {"dz", 1}, {"t1", 17}},
     .tolerance = rounding,
     .optional = "z segments",
     .setup =
         [](Args& a) {
           for (int i = 0; i <= 16; ++i) a.segments.as<std::int64_t>()[i] = 12 * i;
         }},
    {.name = "segments 40, 50, streams",
     .sizes = {{"b", 2}, {"n", 90}, {"dx", 1}, {"dy", 1}, {"dz", 1}, {"t1", 3}, {"t", 2}},
     .tolerance = rounding,
     .optional = "z segments streams",
     .setup =
         [](Args& a) {
           a.surrogates = 3;
           const std::int64_t offsets[] = {0, 40, 90}, streams[] = {5, 5, 1ll << 40, 0};
           std::copy_n(offsets, 3, a.segments.as<std::int64_t>());
           std::copy_n(streams, 4, a.streams.as<std::int64_t>());
         }},
    {.name = "segments 40, 50 circular, a shortest shift for each of three alternatives",
     .sizes = {{"b", 3}, {"n", 90}, {"dx", 1}, {"dy", 1}, {"dz", 1}, {"t1", 3}, {"t", 2}},
     .tolerance = rounding,
     .optional = "z segments min_shifts",
     .setup =
         [](Args& a) {
           a.surrogates = 30, a.surrogate_type = SurrogateType::circular;
           const std::int64_t offsets[] = {0, 40, 90}, shifts[] = {1, 7, 19, 24, 0, 1000};
           std::copy_n(offsets, 3, a.segments.as<std::int64_t>());
           std::copy_n(shifts, 6, a.min_shifts.as<std::int64_t>());
         }},
    {.name = "segments 40, 56 1,3 theiler=2 k=7 surrogates=20",
     .sizes = {{"b", 2}, {"n", 96}, {"dx", 1}, {"dy", 3}, {"t1", 3}},
     .tolerance = rounding,
     .optional = "segments",
     .setup =
         [](Args& a) {
           a.surrogates = 20, a.k = 7, a.theiler = 2;
           const std::int64_t offsets[] = {0, 40, 96};
           std::copy_n(offsets, 3, a.segments.as<std::int64_t>());
         }},
    {.name = "n=64 2,1 surrogates=20",
     .sizes = {{"b", 1}, {"n", 64}, {"dx", 2}, {"dy", 1}},
     .tolerance = rounding,
     .setup = [](Args& a) { a.surrogates = 20; }},
    {.name = "n=1100 1,1 k=1 b=8, lists run out",
     .sizes = {{"b", 8}, {"n", 1100}, {"dx", 1}, {"dy", 1}},
     .tolerance = rounding,
     .heavy = true,
     .setup =
         [](Args& a) {
           a.k = 1, a.theiler = 1;
           for (int i = 0; i < 8 * 1100; i += 25) a.x.as<double>()[i] *= 100;  // far from all others
         }},
    {.name = "n=1100 k=1 b=8, lists run out",
     .sizes = {{"b", 8}, {"n", 1100}, {"dx", 1}, {"dy", 1}, {"dz", 1}},
     .tolerance = rounding,
     .optional = "z",
     .heavy = true,
     .setup =
         [](Args& a) {
           a.k = 1, a.theiler = 1;
           for (int i = 0; i < 8 * 1100; i += 25) a.x.as<double>()[i] *= 100;  // far from all others
         }},
    {.name = "n=1100 1,1,2 b=8, lists in z run out",
     .sizes = {{"b", 8}, {"n", 1100}, {"dx", 1}, {"dy", 1}, {"dz", 2}},
     .tolerance = rounding,
     .optional = "z",
     .heavy = true,
     .setup =
         [](Args& a) {
           for (int i = 0; i < 2 * 1100; ++i) a.z.as<double>()[i] *= i % 100 < 50 ? 1e-6 : 1;
         }},
    {.name = "n=80 3,1,2 k=9 b=9",
     .sizes = {{"b", 9}, {"n", 80}, {"dx", 3}, {"dy", 1}, {"dz", 2}},
     .tolerance = rounding,
     .optional = "z",
     .setup = [](Args& a) { a.k = 9, a.theiler = 2; }},
    {.name = "TE(1,1) n=1000 surrogates=200",
     .sizes = {{"b", 1}, {"n", 1000}, {"dx", 1}, {"dy", 1}, {"dz", 1}},
     .optional = "z",
     .benchmark_only = true,
     .setup = [](Args& a) { a.surrogates = 200; }},
    {.name = "TE(1,1) n=10000 surrogates=200",
     .sizes = {{"b", 1}, {"n", 10000}, {"dx", 1}, {"dy", 1}, {"dz", 1}},
     .optional = "z",
     .benchmark_only = true,
     .setup = [](Args& a) { a.surrogates = 200; }},
    {.name = "MI(1,1) n=1000 surrogates=200",
     .sizes = {{"b", 1}, {"n", 1000}, {"dx", 1}, {"dy", 1}},
     .benchmark_only = true,
     .setup = [](Args& a) { a.surrogates = 200; }},
    {.name = "MI(1,1) n=50000 surrogates=200",
     .sizes = {{"b", 1}, {"n", 50000}, {"dx", 1}, {"dy", 1}},
     .benchmark_only = true,
     .setup = [](Args& a) { a.surrogates = 200; }},
    {.name = "TE(2,2) n=1000 surrogates=200",
     .sizes = {{"b", 1}, {"n", 1000}, {"dx", 2}, {"dy", 1}, {"dz", 2}},
     .optional = "z",
     .benchmark_only = true,
     .setup = [](Args& a) { a.surrogates = 200; }},
    {.name = "TE(1,1) n=100000",
     .sizes = {{"b", 1}, {"n", 100000}, {"dx", 1}, {"dy", 1}, {"dz", 1}},
     .optional = "z",
     .benchmark_only = true},
};

constinit const Definition<Args> definition{
    {.name = "ksg_conditional_mutual_information",
     .summary = "conditional mutual information I(x;y|z) by k nearest neighbours, of data and surrogates",
     .source = "Frenzel, Pompe, PRL 99, 204101 (2007); Kraskov et al., PRE 69, 066138 (2004)",
     .determinism = Determinism::everywhere,
     .faults = ksg_faults},
    {.check = check, .sizes = sizes, .flops = flops, .cases = cases}};

}  // namespace

constinit const Op<Args> ksg_conditional_mutual_information{definition};
extern constinit const Impl<Args> ksg_conditional_mutual_information_cpu{{.launch = cpu, .lay = lay}};

}  // namespace kolmo
