#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kolmo/knn/arena.hpp"
#include "kolmo/knn/problem.hpp"

namespace kolmo {
namespace {

using Args = KsgConditionalMutualInformationArgs;
using knn::Arena;
using knn::Problem;

int columns(const Tensor& t) { return t.given() ? int(t.extent[std::size_t(t.rank - 1)]) : 0; }
std::int64_t problems(const Args& a) { return a.segments.given() ? a.segments.extent[0] - 1 : 1; }

void check(const Args& a) {
  const std::string name = "ksg_conditional_mutual_information: ";
  for (const Tensor* t : {static_cast<const Tensor*>(&a.x), static_cast<const Tensor*>(&a.y)})
    require(columns(*t) >= 1 && columns(*t) <= 16, name + "x and y have 1 to 16 columns");
  require(!a.z.given() || (columns(a.z) >= 1 && columns(a.z) <= 16), name + "z has 1 to 16 columns");
  const std::int64_t n = a.y.extent[0];
  require(n < std::int64_t(1) << 31, name + "at most 2^31 - 1 rows");
  require(!a.segments.given() || a.segments.extent[0] >= 2, name + "segments has at least two offsets");
  if (!a.segments.given()) require_rows("ksg_conditional_mutual_information", n, a.k, a.theiler);
}

void sizes(const Args& a, Dims& dims) {
  const std::int64_t t = problems(a);
  if (dims.has("t") && dims["t"] != t)
    fail<InvalidArgument>("ksg_conditional_mutual_information: streams has " + std::to_string(dims["t"]) +
                          " rows for " + std::to_string(t) + " problems");
  if (!dims.has("t")) dims.set("t", t);
  dims.set("e", 1 + a.surrogates);
}

/// Of the distances to the k neighbours of every point; what finding them takes depends on the data.
double flops(const Args& a) {
  const double n = double(a.y.extent[0]), d = columns(a.x) + columns(a.y) + columns(a.z);
  return double(a.x.extent[0]) * double(1 + a.surrogates) * n * double(a.k) * (2 * d + 3);
}

/// Throws unless segment offsets climb from 0 to n and leave every problem enough rows.
void check_segments(const Args& a) {
  if (!a.segments.given()) return;
  const std::int64_t *at = a.segments.as<std::int64_t>(), t = problems(a), n = a.y.extent[0];
  const std::string name = "ksg_conditional_mutual_information: segments ";
  require(at[0] == 0 && at[t] == n, name + "must run from 0 to n = " + std::to_string(n));
  for (std::int64_t i = 0; i < t; ++i)
    require_rows("ksg_conditional_mutual_information: problem " + std::to_string(i), at[i + 1] - at[i], a.k,
                 a.theiler);
}

template <class T>
Problem<T> problem(const Args& a, std::int64_t index) {
  const std::int64_t begin = a.segments.given() && a.segments.data ? a.segments.as<std::int64_t>()[index] : 0;
  const std::int64_t end =
      a.segments.given() && a.segments.data ? a.segments.as<std::int64_t>()[index + 1] : a.y.extent[0];
  Problem<T> p;
  p.n = end - begin, p.b = a.x.extent[0], p.x_step = a.x.extent[1] * columns(a.x);
  p.dx = columns(a.x), p.dy = columns(a.y), p.dz = columns(a.z);
  p.x = a.x.as<T>() + begin * p.dx, p.y = a.y.as<T>() + begin * p.dy;
  if (p.dz) p.z = a.z.as<T>() + begin * p.dz;
  if (a.set.given()) p.set = a.set.as<std::int32_t>() + begin;
  if (a.streams.given()) p.streams = a.streams.as<std::int64_t>() + index * p.b;
  p.first_stream = index * p.b;
  p.k = a.k, p.theiler = a.theiler, p.surrogates = a.surrogates, p.block_length = a.block_length,
  p.seed = a.seed;
  p.algorithm = a.algorithm, p.surrogate_type = a.surrogate_type;
  p.value = a.value.as<double>() + index * p.b * p.estimates();
  if (a.local.given()) p.local = a.local.as<double>() + begin, p.local_step = a.local.extent[1];
  return p;
}

/// Of the problem that needs most. The engine depends on a problem's size, so each is asked.
template <class T>
std::size_t workspace_of(const Args& a, int threads) {
  std::size_t most = 0;
  for (std::int64_t i = 0; i < problems(a); ++i) {
    Problem<T> p = problem<T>(a, i);
    p.n = std::clamp<std::int64_t>(p.n, 1, a.y.extent[0]);  // offsets are checked later
    Arena trees, lanes;
    trees_layout(p, trees, threads);
    if (lanes_fit(p)) lanes_layout(p, lanes, threads);
    most = std::max({most, trees.used(), lanes.used()});
  }
  return most;
}

std::size_t workspace(const Args& a, int threads) {
  return a.x.dtype == DType::f64 ? workspace_of<double>(a, threads) : workspace_of<float>(a, threads);
}

template <class T>
void check_finite(const Tensor& t, const char* name) {
  const T* v = t.as<T>();
  for (std::int64_t i = 0, n = t.size(); i < n; ++i)
    if (!std::isfinite(v[i]))
      fail<InvalidArgument>("ksg_conditional_mutual_information: " + std::string(name) +
                            " is not finite at element " + std::to_string(i));
}

void cpu(const Args& a, void* memory, Stream& stream) {
  check_segments(a);
  visit<double, float>(a.x.dtype, [&]<class T> {
    check_finite<T>(a.x, "x"), check_finite<T>(a.y, "y");
    if (a.z.given()) check_finite<T>(a.z, "z");
    for (std::int64_t i = 0; i < problems(a); ++i) {
      const Problem<T> p = problem<T>(a, i);
      const bool in_lanes = lanes_fit(p);
      if (in_lanes) lanes(p, Arena(memory), stream.threads());
      if (!in_lanes || p.local) trees(p, in_lanes, Arena(memory), stream.threads());
    }
  });
}

// Estimates agree with the oracle's but for the rounding of its long double digamma sums to f64.
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
    {.name = "n=60 ksg2 2,2,1 theiler=2",
     .sizes = {{"b", 1}, {"n", 60}, {"dx", 2}, {"dy", 2}, {"dz", 1}},
     .tolerance = rounding,
     .optional = "z local",
     .setup = [](Args& a) { a.algorithm = KsgAlgorithm::ksg2, a.theiler = 2, a.k = 7; }},
    {.name = "n=50 ksg2 1,1 surrogates=2",
     .sizes = {{"b", 1}, {"n", 50}, {"dx", 1}, {"dy", 1}},
     .tolerance = rounding,
     .setup = [](Args& a) { a.algorithm = KsgAlgorithm::ksg2, a.surrogates = 2; }},
    {.name = "n=100 sets k=20 3,3,3",
     .sizes = {{"b", 1}, {"n", 100}, {"dx", 3}, {"dy", 3}, {"dz", 3}},
     .tolerance = rounding,
     .optional = "z set",
     .setup =
         [](Args& a) {
           a.k = 20, a.theiler = 4;
           for (int i = 0; i < 100; ++i) a.set.as<std::int32_t>()[i] = i / 30;
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
    {.name = "n=1100 k=1 b=8, lists run out",
     .sizes = {{"b", 8}, {"n", 1100}, {"dx", 1}, {"dy", 1}, {"dz", 1}},
     .tolerance = rounding,
     .optional = "z",
     .setup =
         [](Args& a) {
           a.k = 1, a.theiler = 1;
           for (int i = 0; i < 8 * 1100; i += 25) a.x.as<double>()[i] *= 100;  // far from all others
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

}  // namespace

constinit const Op<Args> ksg_conditional_mutual_information{
    {.name = "ksg_conditional_mutual_information",
     .summary = "conditional mutual information I(x;y|z) by k nearest neighbours, of data and surrogates",
     .source = "Frenzel, Pompe, PRL 99, 204101 (2007); Kraskov et al., PRE 69, 066138 (2004)",
     .determinism = Determinism::everywhere},
    {.check = check, .sizes = sizes, .flops = flops, .cpu_workspace = workspace, .cpu = cpu, .cases = cases}};

}  // namespace kolmo
