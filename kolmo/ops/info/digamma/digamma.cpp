#include "kolmo/ops/info/digamma/digamma.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/info/digamma/digamma_function.hpp"
#include "kolmo/skeleton/elementwise_cpu.hpp"

namespace kolmo {
namespace {

template <auto From>
void arguments(DigammaArgs& a) {
  visit<double, float>(a.x.dtype, [&]<class T> {
    for (std::int64_t i = 0; i < a.x.size(); ++i) a.x.as<T>()[i] = T(From(i));
  });
}
double thousandths(std::int64_t i) { return double(i + 1) / 1000; }
double integers(std::int64_t i) { return double(i + 1); }
double powers(std::int64_t i) { return i < 1000 ? 1e-3 / double(i + 1) : double(i) * double(i) * 1e3; }
double negative(std::int64_t i) { return 0.013 - double(i) / 64; }

// f64: the documented bound of 1e-12; base/digamma.hpp guarantees 8e-16. f32: half a unit in the last place.
// Negative arguments are at least 0.013 from the poles, where |pi cot(pi x)| is below 80.
constexpr Case<DigammaArgs> cases[] = {
    {.name = "one", .sizes = {{"...", 1}}, .tolerance = 8e-16},
    {.name = "(0, 20] f64", .sizes = {{"...", 20000}}, .tolerance = 8e-16, .setup = arguments<thousandths>},
    {.name = "integers f64", .sizes = {{"...", 3000}}, .tolerance = 8e-16, .setup = arguments<integers>},
    {.name = "tiny and large f64", .sizes = {{"...", 2000}}, .tolerance = 8e-16, .setup = arguments<powers>},
    {.name = "negative f64", .sizes = {{"...", 1000}}, .tolerance = 1.6e-13, .setup = arguments<negative>},
    {.name = "(0, 2] f32",
     .sizes = {{"...", 2049}},
     .dtype = DType::f32,
     .tolerance = 0x1.01p-24,
     .setup = arguments<thousandths>},
    {.name = "n=2^24 f64", .sizes = {{"...", 1 << 24}}, .benchmark_only = true},
};

constinit const Definition<DigammaArgs> definition{
    {.name = "digamma",
     .summary = "y = psi(x) = d/dx ln Gamma(x), element by element",
     .source = "Abramowitz & Stegun, section 6.3",
     .determinism = Determinism::everywhere,
     .in_place = true},
    // Arguments below 10 take 22 coefficients and a quotient; larger ones a logarithm and 8 coefficients,
    // which is about as many operations.
    {.flops = [](const DigammaArgs& a) { return 60.0 * double(a.x.size()); }, .cases = cases}};

}  // namespace

constinit const Op<DigammaArgs> digamma{definition};
extern constinit const Impl<DigammaArgs> digamma_cpu = cpu::elementwise<DigammaElements>();

}  // namespace kolmo
