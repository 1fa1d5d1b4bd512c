#include "kolmo/ops/info/ksg_transfer_entropy/ksg_transfer_entropy.hpp"

#include "kolmo/knn/arena.hpp"
#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"

namespace kolmo {
namespace {

using Args = KsgTransferEntropyArgs;

void check(const Args& a) {
  const std::string name = "ksg_transfer_entropy: ";
  const EmbeddedSeries e = embedded(a);
  require(e.rows >= 1, name + "n = " + std::to_string(a.target.extent[1]) +
                           " samples, but the embedding reaches " + std::to_string(e.back) + " steps back");
  require(e.condition <= 16, name + "history and given series together make at most 16 columns");
  require_rows("ksg_transfer_entropy", e.rows * a.target.extent[0], a.k, a.theiler);
}

void sizes(const Args& a, Dims& dims) {
  dims.set("rows", embedded(a).rows);
  dims.set("e", 1 + a.surrogates);
}

double flops(const Args& a) {  // as in ksg_conditional_mutual_information
  const EmbeddedSeries e = embedded(a);
  const double n = double(e.rows * a.target.extent[0]), d = double(a.source_history + 1 + e.condition);
  return double(a.source.extent[0]) * double(1 + a.surrogates) * n * double(a.k) * (2 * d + 3);
}

template <class T>
void embed(const Args& a, const EmbeddedSeries& e) {
  const std::int64_t b = a.source.extent[0], trials = a.target.extent[0], n = a.target.extent[1];
  const std::int64_t m = trials * e.rows, g = e.condition - a.history;
  const T *source = a.source.as<T>(), *target = a.target.as<T>(), *given = g ? a.given.as<T>() : nullptr;
  T *x = e.x.as<T>(), *y = e.y.as<T>(), *z = e.z.as<T>();
  for (std::int64_t r = 0; r < m; ++r) {
    const std::int64_t trial = r / e.rows, now = trial * n + e.back + r % e.rows;
    e.set.as<std::int32_t>()[r] = std::int32_t(trial);
    y[r] = target[now];
    for (std::int64_t i = 0; i < a.history; ++i) z[r * e.condition + i] = target[now - 1 - i * a.tau];
    for (std::int64_t i = 0; i < g; ++i) z[r * e.condition + a.history + i] = given[i * trials * n + now - 1];
    for (std::int64_t s = 0; s < b; ++s)
      for (std::int64_t j = 0; j < a.source_history; ++j)
        x[(s * m + r) * a.source_history + j] = source[s * trials * n + now - a.lag - j * a.source_tau];
  }
}

void cpu(const Args& a, void* workspace, Stream& s) {
  const EmbeddedSeries e = embedded(a, workspace);
  visit<double, float>(a.source.dtype, [&]<class T> { embed<T>(a, e); });
  ksg_conditional_mutual_information(estimation(a, e), s);
}

// The arithmetic is that of ksg_conditional_mutual_information; so are the tolerances.
constexpr double rounding = 1e-13;
constexpr Case<Args> cases[] = {
    {.name = "n=60",
     .sizes = {{"b", 1}, {"trials", 1}, {"n", 60}},
     .tolerance = rounding,
     .optional = "local"},
    {.name = "n=60 b=2 2,2 lag=3 surrogates=3",
     .sizes = {{"b", 2}, {"trials", 1}, {"n", 60}},
     .tolerance = rounding,
     .setup = [](Args& a) { a.history = a.source_history = 2, a.tau = 2, a.lag = 3, a.surrogates = 3; }},
    {.name = "trials=3 n=25 given=1 theiler=2",
     .sizes = {{"b", 1}, {"trials", 3}, {"n", 25}, {"g", 1}},
     .tolerance = rounding,
     .optional = "given local",
     .setup = [](Args& a) { a.theiler = 2, a.source_tau = 2, a.source_history = 2; }},
    {.name = "n=60 ksg2 f32",
     .sizes = {{"b", 1}, {"trials", 1}, {"n", 60}},
     .dtype = DType::f32,
     .tolerance = rounding,
     .setup = [](Args& a) { a.algorithm = KsgAlgorithm::ksg2; }},
    {.name = "b=19 n=1000 surrogates=200",
     .sizes = {{"b", 19}, {"trials", 1}, {"n", 1000}},
     .benchmark_only = true,
     .setup = [](Args& a) { a.surrogates = 200; }},
    {.name = "n=100000", .sizes = {{"b", 1}, {"trials", 1}, {"n", 100000}}, .benchmark_only = true},
};

}  // namespace

constinit const Op<Args> ksg_transfer_entropy{
    {.name = "ksg_transfer_entropy",
     .summary = "transfer entropy I(source past; target next | target past) by k nearest neighbours",
     .source = "Schreiber, PRL 85, 461 (2000); Wibral et al. (2014)",
     .determinism = Determinism::everywhere},
    {.check = check,
     .sizes = sizes,
     .flops = flops,
     .cpu_workspace = [](const Args& a, int) { return embedded(a).bytes; },
     .cpu = cpu,
     .cases = cases}};

EmbeddedSeries embedded(const Args& a, void* workspace) {
  EmbeddedSeries e;
  e.condition = a.history + (a.given.given() ? a.given.extent[0] : 0);
  e.back = std::max((a.history - 1) * a.tau + 1, (a.source_history - 1) * a.source_tau + a.lag);
  e.rows = std::max<std::int64_t>(0, a.target.extent[1] - e.back);
  const std::int64_t m = a.target.extent[0] * e.rows, b = a.source.extent[0];
  const DType dtype = a.target.dtype;
  knn::Arena arena(workspace);
  const auto take = [&](DType t, std::initializer_list<std::int64_t> shape) {
    Tensor place = tensor(nullptr, t, shape, a.target.device);
    place.data = arena.take<std::byte>(place.bytes());
    return place;
  };
  e.x = take(dtype, {b, m, a.source_history}), e.y = take(dtype, {m, 1}), e.z = take(dtype, {m, e.condition});
  e.set = take(DType::i32, {m});
  e.bytes = arena.used();
  return e;
}

KsgConditionalMutualInformationArgs estimation(const Args& a, const EmbeddedSeries& e) {
  const std::int64_t b = a.source.extent[0], value[] = {1, b, 1 + a.surrogates}, local[] = {b, e.y.extent[0]};
  KsgConditionalMutualInformationArgs c{.x = e.x,
                                        .y = e.y,
                                        .z = e.z,
                                        .set = e.set,
                                        .value = tensor(a.value.data, DType::f64, value, a.value.device),
                                        .k = a.k,
                                        .theiler = a.theiler,
                                        .surrogates = a.surrogates,
                                        .block_length = a.block_length,
                                        .seed = a.seed,
                                        .algorithm = a.algorithm,
                                        .surrogate_type = a.surrogate_type};
  if (a.local.given()) c.local = tensor(a.local.data, DType::f64, local, a.local.device);
  return c;
}

}  // namespace kolmo
