#include "kolmo/ops/info/digamma/digamma.hpp"

#include <algorithm>

#include "kolmo/base/digamma.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo {
namespace {

void cpu(const DigammaArgs& a, void*, Stream& s) {
  constexpr std::int64_t part = 1 << 14;
  const std::int64_t n = a.x.size();
  visit<double, float>(a.x.dtype, [&]<class T> {
    const T* x = a.x.as<T>();
    T* y = a.y.as<T>();
    parallel_for(s.threads(), (n + part - 1) / part, [&](std::int64_t p, int) {
      for (std::int64_t i = p * part, end = std::min(n, i + part); i < end; ++i)
        y[i] = T(digamma_exact(double(x[i])));
    });
  });
}

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

// f64: 1e-12 is the promise; 8e-16 is the bound of base/digamma.hpp. f32: half a unit in the last place.
// Negative arguments: |pi cot(pi x)| is below 80 at these distances (0.013 at least) from poles.
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

}  // namespace

constinit const Op<DigammaArgs> digamma{
    {.name = "digamma",
     .summary = "y = psi(x) = d/dx ln Gamma(x), element by element",
     .source = "Abramowitz & Stegun, section 6.3",
     .determinism = Determinism::everywhere,
     .in_place = true},
    // 22 coefficients and a quotient below 10, a logarithm and 8 coefficients beyond: about as many
    // operations.
    {.flops = [](const DigammaArgs& a) { return 60.0 * double(a.x.size()); }, .cpu = cpu, .cases = cases}};

}  // namespace kolmo
