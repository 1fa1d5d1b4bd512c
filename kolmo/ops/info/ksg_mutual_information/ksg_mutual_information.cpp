#include "kolmo/ops/info/ksg_mutual_information/ksg_mutual_information.hpp"

#include "kolmo/knn/finite.hpp"
#include "kolmo/op/define.hpp"
#include "kolmo/ops/info/ksg_mutual_information/unconditional.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {

using Args = KsgMutualInformationArgs;

void check(const Args& a) {
  require(a.x.extent[2] >= 1 && a.x.extent[2] <= 16 && a.y.extent[1] >= 1 && a.y.extent[1] <= 16,
          "ksg_mutual_information: x and y have 1 to 16 columns");
  require_rows("ksg_mutual_information", a.y.extent[0], a.k, a.theiler);
  require_blocks("ksg_mutual_information", a, a.y.extent[0]);
}

double flops(const Args& a) {
  return ksg_flops(a, a.x.extent[0], a.y.extent[0], a.x.extent[2] + a.y.extent[1]);
}

void cpu(const Args& a, Arena scratch, Stream& stream, int) {
  run_unconditional(a, scratch, stream, [&](int fault, const Tensor& t) {
    visit<double, float>(t.dtype,
                         [&]<class T> { check_finite(stream.status(), fault, t.as<T>(), 0, t.size()); });
  });
}

// The arithmetic and the tolerances are those of ksg_conditional_mutual_information.
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
    {.name = "n=60 times with a gap, surrogates=2 circular",
     .sizes = {{"b", 1}, {"n", 60}, {"dx", 1}, {"dy", 1}},
     .tolerance = rounding,
     .optional = "time",
     .setup =
         [](Args& a) {
           a.surrogates = 2, a.theiler = 3, a.surrogate_type = SurrogateType::circular;
           for (int i = 0; i < 60; ++i) a.time.as<std::int64_t>()[i] = i + i / 30 * 2;
         }},
    {.name = "n=60 surrogates=3, five trials of 12",
     .sizes = {{"b", 1}, {"n", 60}, {"dx", 1}, {"dy", 1}},
     .tolerance = rounding,
     .setup =
         [](Args& a) { a.surrogates = 3, a.block_length = 12, a.surrogate_type = SurrogateType::trials; }},
    {.name = "n=60 surrogates=2 blocks of 7",
     .sizes = {{"b", 1}, {"n", 60}, {"dx", 1}, {"dy", 1}},
     .tolerance = rounding,
     .setup = [](Args& a) { a.surrogates = 2, a.block_length = 7, a.surrogate_type = SurrogateType::block; }},
    {.name = "n=10000", .sizes = {{"b", 1}, {"n", 10000}, {"dx", 1}, {"dy", 1}}, .benchmark_only = true},
    {.name = "n=100000", .sizes = {{"b", 1}, {"n", 100000}, {"dx", 1}, {"dy", 1}}, .benchmark_only = true},
};

constinit const Definition<Args> definition{
    {.name = "ksg_mutual_information",
     .summary = "mutual information I(x;y) by k nearest neighbours, of data and surrogates",
     .source = "Kraskov, Stoegbauer, Grassberger, PRE 69, 066138 (2004)",
     .determinism = Determinism::everywhere,
     .faults = {ksg_faults, 3}},
    {.check = check,
     .sizes = [](const Args& a, Dims& dims) { dims.set("e", 1 + a.surrogates); },
     .flops = flops,
     .cases = cases}};

}  // namespace

constinit const Op<Args> ksg_mutual_information{definition};
extern constinit const Impl<Args> ksg_mutual_information_cpu{{.launch = cpu, .lay = lay_unconditional}};

}  // namespace kolmo
