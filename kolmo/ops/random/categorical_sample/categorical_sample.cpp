#include "kolmo/ops/random/categorical_sample/categorical_sample.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/random/categorical_sample/sample_items.hpp"
#include "kolmo/skeleton/steps_cpu.hpp"

namespace kolmo {
namespace {
using A = CategoricalSampleArgs;

void check(const A& a) {
  require(a.index.size() == 0 || a.weight.dim(-1) > 0, "categorical_sample: weight has no categories");
}

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float>(a.weight.dtype, [&]<class T> {
    const WeightBlocks<T> blocks(arena, a, s.status());
    cpu::do_step(SumBlock<T>{blocks}, s, 1 << 8);
    cpu::do_step(AddBlocks<T>{blocks}, s);
    cpu::do_step(DrawCategory<T>(blocks, a), s);
  });
}

void lay(Arena& arena, const A& a, const Site&) {
  visit<double, float>(a.weight.dtype, [&]<class T> { WeightBlocks<T>(arena, a, {}); });
}

constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"...", 1}, {"k", 1}, {"n", 1}}},
    {.name = "5 rows of k=3, n=100", .sizes = {{"...", 5}, {"k", 3}, {"n", 100}}},
    {.name = "k=65 f32 from 2^33 + 1",
     .sizes = {{"...", 3}, {"k", 65}, {"n", 77}},
     .dtype = DType::f32,
     .setup = [](A& a) { a.seed = 9, a.offset = (1ll << 33) + 1; }},
    {.name = "k=5000, n=500", .sizes = {{"...", 2}, {"k", 5000}, {"n", 500}}},
    {.name = "5 rows of k=16500", .sizes = {{"...", 5}, {"k", 16500}, {"n", 3}}},
    {.name = "k=70, n=9001 from 1",
     .sizes = {{"...", 2}, {"k", 70}, {"n", 9001}},
     .setup = [](A& a) { a.offset = 1; }},
    {.name = "300 rows of k=64 f32",
     .sizes = {{"...", 300}, {"k", 64}, {"n", 1}},
     .dtype = DType::f32,
     .setup = [](A& a) { a.seed = ~0ull; }},
    {.name = "110000 rows of k=5 f32",
     .sizes = {{"...", 110000}, {"k", 5}, {"n", 1}},
     .dtype = DType::f32,
     .heavy = true},
    {.name = "2^22 draws from k=1000 f32",
     .sizes = {{"...", 1}, {"k", 1000}, {"n", 1 << 22}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "4096 rows of k=32768 f32",
     .sizes = {{"...", 4096}, {"k", 32768}, {"n", 1}},
     .dtype = DType::f32,
     .benchmark_only = true},
};
constexpr std::string_view faults[] = {"weight is negative or not finite",
                                       "the sum of a row of weights is not positive or not finite"};

constinit const Definition<A> definition{
    {.name = "categorical_sample",
     .summary = "index = i with probability weight_i / sum_j weight_j, n draws from each row",
     .source = "Devroye 1986; Salmon et al., SC 2011",
     .determinism = Determinism::everywhere,
     .faults = faults},
    // A row takes its sum, and each draw a product. Comparisons and integer operations are not counted.
    {.check = check,
     .flops = [](const A& a) { return double(a.weight.size()) + double(a.index.size()); },
     .cases = cases}};

}  // namespace

constinit const Op<A> categorical_sample{definition};
extern constinit const Impl<A> categorical_sample_cpu{{.launch = launch, .lay = lay}};

}  // namespace kolmo
