#include "kolmo/ops/timeseries/time_delayed_embedding/time_delayed_embedding.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = TimeDelayedEmbeddingArgs;

std::int64_t length(const A& a) { return a.x.extent[std::size_t(a.x.rank - 1)]; }
std::int64_t reach(const A& a) { return (a.dimension - 1) * a.tau; }

void check(const A& a) {
  if (length(a) <= reach(a))
    fail<InvalidArgument>("time_delayed_embedding: x has " + std::to_string(length(a)) +
                          " samples, but dimension " + std::to_string(a.dimension) + " and tau " +
                          std::to_string(a.tau) + " need at least " + std::to_string(reach(a) + 1));
}

void sizes(const A& a, Dims& dims) { dims.set("rows", length(a) - reach(a)); }

void cpu(const A& a, Arena, Stream& s, int) {
  const std::int64_t n = length(a), rows = n - reach(a), m = a.dimension, batch = a.x.size() / n;
  constexpr std::int64_t part = 1 << 12;
  const std::int64_t parts = (rows + part - 1) / part;
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    parallel_for(s.threads(), batch * parts, [&](std::int64_t item, int) {
      const std::int64_t b = item / parts, first = item % parts * part, end = std::min(rows, first + part);
      const T* newest = a.x.as<T>() + b * n + reach(a);
      T* out = a.embedded.as<T>() + (b * rows + first) * m;
      for (std::int64_t r = first; r < end; ++r)
        for (std::int64_t j = 0; j < m; ++j) *out++ = newest[r - j * a.tau];
    });
  });
}

void three_by_seven(A& a) { a.dimension = 3, a.tau = 7; }
void one(A& a) { a.dimension = 1, a.tau = 5; }
void single_row(A& a) { a.dimension = 34, a.tau = 3; }

constexpr Case<A> cases[] = {
    {.name = "m=2 tau=1", .sizes = {{"...", 3}, {"n", 50}}},
    {.name = "m=3 tau=7 f32",
     .sizes = {{"...", 2}, {"n", 1000}},
     .dtype = DType::f32,
     .setup = three_by_seven},
    {.name = "m=1 f16", .sizes = {{"...", 2}, {"n", 33}}, .dtype = DType::f16, .setup = one},
    {.name = "one row, m=34 bf16",
     .sizes = {{"...", 1}, {"n", 100}},
     .dtype = DType::bf16,
     .setup = single_row},
    {.name = "n=9000", .sizes = {{"...", 1}, {"n", 9000}}, .setup = three_by_seven},
    {.name = "n=2^24 m=3 tau=7",
     .sizes = {{"...", 1}, {"n", 1 << 24}},
     .benchmark_only = true,
     .setup = three_by_seven},
};

constinit const Definition<TimeDelayedEmbeddingArgs> definition{
    {.name = "time_delayed_embedding",
     .summary = "rows [x_t, x_{t-tau}, ..., x_{t-(m-1) tau}]",
     .source = "Takens 1981",
     .determinism = Determinism::everywhere},
    {.check = check, .sizes = sizes, .flops = [](const A&) { return 0.0; }, .cases = cases}};

}  // namespace

constinit const Op<TimeDelayedEmbeddingArgs> time_delayed_embedding{definition};
extern constinit const Impl<TimeDelayedEmbeddingArgs> time_delayed_embedding_cpu{{.launch = cpu}};

}  // namespace kolmo
