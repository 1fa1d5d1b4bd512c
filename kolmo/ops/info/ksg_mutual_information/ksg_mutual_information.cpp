#include "kolmo/ops/info/ksg_mutual_information/ksg_mutual_information.hpp"

#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"

namespace kolmo {
namespace {

using Args = KsgMutualInformationArgs;

void check(const Args& a) {
  require(a.x.extent[2] >= 1 && a.x.extent[2] <= 16 && a.y.extent[1] >= 1 && a.y.extent[1] <= 16,
          "ksg_mutual_information: x and y have 1 to 16 columns");
  require_rows("ksg_mutual_information", a.y.extent[0], a.k, a.theiler);
}

double flops(const Args& a) {  // as in ksg_conditional_mutual_information
  const double n = double(a.y.extent[0]), d = double(a.x.extent[2] + a.y.extent[1]);
  return double(a.x.extent[0]) * double(1 + a.surrogates) * n * double(a.k) * (2 * d + 3);
}

// The arithmetic is that of ksg_conditional_mutual_information; so are the tolerances.
constexpr double rounding = 1e-13;
constexpr Case<Args> cases[] = {
    {.name = "n=50",
     .sizes = {{"b", 1}, {"n", 50}, {"dx", 1}, {"dy", 1}},
     .tolerance = rounding,
     .optional = "local"},
    {.name = "n=65 2,3 b=2 surrogates=4",
     .sizes = {{"b", 2}, {"n", 65}, {"dx", 2}, {"dy", 3}},
     .tolerance = rounding,
     .setup = [](Args& a) { a.surrogates = 4, a.theiler = 2; }},
    {.name = "n=60 ksg2 f32",
     .sizes = {{"b", 1}, {"n", 60}, {"dx", 1}, {"dy", 1}},
     .dtype = DType::f32,
     .tolerance = rounding,
     .setup = [](Args& a) { a.algorithm = KsgAlgorithm::ksg2, a.k = 3; }},
    {.name = "n=10000", .sizes = {{"b", 1}, {"n", 10000}, {"dx", 1}, {"dy", 1}}, .benchmark_only = true},
    {.name = "n=100000", .sizes = {{"b", 1}, {"n", 100000}, {"dx", 1}, {"dy", 1}}, .benchmark_only = true},
};

}  // namespace

constinit const Op<Args> ksg_mutual_information{
    {.name = "ksg_mutual_information",
     .summary = "mutual information I(x;y) by k nearest neighbours, of data and surrogates",
     .source = "Kraskov, Stoegbauer, Grassberger, PRE 69, 066138 (2004)",
     .determinism = Determinism::everywhere},
    {.check = check,
     .sizes = [](const Args& a, Dims& dims) { dims.set("e", 1 + a.surrogates); },
     .flops = flops,
     .cpu = [](const Args& a, void*, Stream& s) { ksg_conditional_mutual_information(unconditional(a), s); },
     .cases = cases}};

KsgConditionalMutualInformationArgs unconditional(const Args& a) {
  const std::int64_t value[] = {1, a.x.extent[0], 1 + a.surrogates};
  return {.x = a.x,
          .y = a.y,
          .set = a.set,
          .value = tensor(a.value.data, DType::f64, value, a.value.device),
          .local = a.local,
          .k = a.k,
          .theiler = a.theiler,
          .surrogates = a.surrogates,
          .block_length = a.block_length,
          .seed = a.seed,
          .algorithm = a.algorithm,
          .surrogate_type = a.surrogate_type};
}

}  // namespace kolmo
