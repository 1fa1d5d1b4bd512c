#include "kolmo/ops/elementwise/unary/unary.hpp"

#include <algorithm>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/elementwise/unary/unary_maps.hpp"
#include "kolmo/runtime/cpu/convert.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = UnaryArgs;

/// Applies f(args, unary_maps) to every element, on all threads of the stream.
template <auto F, class Args>
void unary(const Args& a, Arena, Stream& s, int) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    using C = Compute<T>;
    const UnaryMap<C> f = F(a, unary_maps<C>());
    const T* const x = a.x.template as<T>();
    T* const y = a.y.template as<T>();
    parallel_ranges(s.threads(), a.x.size(), [&](std::int64_t begin, std::int64_t end) {
      if constexpr (std::is_same_v<T, C>) {
        f(x + begin, end - begin, y + begin);
      } else {
        constexpr std::int64_t some = 1024;
        C copy[some];
        for (std::int64_t i = begin, n; i < end; i += n) {
          n = std::min(some, end - i);
          widen(x + i, n, copy);
          f(copy, n, copy);
          narrow(copy, n, y + i);
        }
      }
    });
  });
}

/// Makes arguments from -Bound to Bound, so that cases reach far from 0.
template <int Bound, class Args>
void far(Args& a) {
  const std::int64_t n = a.x.size();
  visit<double, float>(a.x.dtype, [&]<class T> {
    for (std::int64_t i = 0; i < n; ++i)
      a.x.template as<T>()[i] = T(-Bound + 2.0 * Bound * double(i) / double(n));
  });
}

/// Cases of functions whose relative error is at most U roundings. A 16-bit dtype adds half an ulp.
template <int U>
constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"...", 1}}, .tolerance = relative(U * 0x1p-53)},
    {.name = "n=1000 f64", .sizes = {{"...", 1000}}, .tolerance = relative(U * 0x1p-53)},
    {.name = "n=1001 f64 to 20",
     .sizes = {{"...", 1001}},
     .tolerance = relative(U * 0x1p-53),
     .setup = far<20>},
    {.name = "n=1025 f32", .sizes = {{"...", 1025}}, .dtype = DType::f32, .tolerance = relative(U * 0x1p-24)},
    {.name = "n=515 f32 to 20",
     .sizes = {{"...", 515}},
     .dtype = DType::f32,
     .tolerance = relative(U * 0x1p-24),
     .setup = far<20>},
    {.name = "n=33 f16",
     .sizes = {{"...", 33}},
     .dtype = DType::f16,
     .tolerance = U ? Tolerance{0x1p-25, 0x1p-11 + U * 0x1p-24} : 0},
    {.name = "n=1100 bf16",
     .sizes = {{"...", 1100}},
     .dtype = DType::bf16,
     .tolerance = U ? relative(0x1p-8 + U * 0x1p-24) : 0},
    {.name = "n=2^24 f32", .sizes = {{"...", 1 << 24}}, .dtype = DType::f32, .benchmark_only = true},
    {.name = "n=2^24 f16", .sizes = {{"...", 1 << 24}}, .dtype = DType::f16, .benchmark_only = true},
};
template <int Flops, int U>
constexpr OpCode<A> code{.flops = [](const A& a) { return double(Flops) * double(a.x.size()); },
                         .cases = cases<U>};

// An exponential errs by two units in the last place; sigmoid adds a sum and a quotient; each is doubled.
// tanh is a quotient of two exponentials less 1, of 4 units. An exponential and an error function count as 20
// operations.
constinit const Definition<A> of_exp{{.name = "elementwise_exp",
                                      .summary = "y = e^x, element by element",
                                      .source = "elementary",
                                      .in_place = true},
                                     code<20, 6>};
constinit const Definition<A> of_relu{{.name = "relu",
                                       .summary = "y = max(x, 0), element by element",
                                       .source = "Nair & Hinton, ICML 2010",
                                       .determinism = Determinism::everywhere,
                                       .in_place = true},
                                      code<1, 0>};
constinit const Definition<A> of_sigmoid{{.name = "sigmoid",
                                          .summary = "y = 1 / (1 + e^-x), element by element",
                                          .source = "elementary",
                                          .in_place = true},
                                         code<23, 10>};
constinit const Definition<A> of_tanh{
    {.name = "tanh", .summary = "y = tanh x, element by element", .source = "elementary", .in_place = true},
    code<20, 16>};

using G = GeluArgs;
void by_tanh(G& a) { a.form = GeluForm::tanh; }
void far_by_tanh(G& a) { far<8>(a), by_tanh(a); }

// form=erf: the argument of erfc has two roundings, and erfc magnifies a relative error of its argument by at
// most x^2, which is 25 for a normal number and 64 below 8. form=tanh: 1 + tanh cancels, so roundings of 1
// are magnified by |x| / 2.
constexpr Case<G> gelu_cases[] = {
    {.name = "one", .sizes = {{"...", 1}}, .tolerance = relative(66 * 0x1p-53)},
    {.name = "n=1000 f64", .sizes = {{"...", 1000}}, .tolerance = relative(66 * 0x1p-53)},
    {.name = "n=1001 f64 to 8",
     .sizes = {{"...", 1001}},
     .tolerance = relative(144 * 0x1p-53),
     .setup = far<8>},
    {.name = "n=1025 f32",
     .sizes = {{"...", 1025}},
     .dtype = DType::f32,
     .tolerance = relative(66 * 0x1p-24)},
    {.name = "n=515 f32 to 8",
     .sizes = {{"...", 515}},
     .dtype = DType::f32,
     .tolerance = relative(144 * 0x1p-24),
     .setup = far<8>},
    {.name = "n=33 f16", .sizes = {{"...", 33}}, .dtype = DType::f16, .tolerance = {0x1p-25, 0x1.1p-11}},
    {.name = "n=1100 bf16", .sizes = {{"...", 1100}}, .dtype = DType::bf16, .tolerance = relative(0x1.1p-8)},
    {.name = "n=1001 f64 to 8, tanh", .sizes = {{"...", 1001}}, .tolerance = 0x1p-48, .setup = far_by_tanh},
    {.name = "n=1025 f32 to 8, tanh",
     .sizes = {{"...", 1025}},
     .dtype = DType::f32,
     .tolerance = 0x1p-19,
     .setup = far_by_tanh},
    {.name = "n=2^24 f32", .sizes = {{"...", 1 << 24}}, .dtype = DType::f32, .benchmark_only = true},
    {.name = "n=2^24 f16", .sizes = {{"...", 1 << 24}}, .dtype = DType::f16, .benchmark_only = true},
    {.name = "n=2^24 f32, tanh",
     .sizes = {{"...", 1 << 24}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = by_tanh},
};
constinit const Definition<G> of_gelu{
    {.name = "gelu",
     .summary = "y = x Phi(x), element by element; Phi is the normal distribution function",
     .source = "Hendrycks & Gimpel, arXiv:1606.08415",
     .in_place = true},
    {.flops = [](const G& a) { return (a.form == GeluForm::erf ? 23.0 : 28.0) * double(a.x.size()); },
     .cases = gelu_cases}};

}  // namespace

constinit const Op<A> elementwise_exp{of_exp}, relu{of_relu}, sigmoid{of_sigmoid}, tanh{of_tanh};
constinit const Op<G> gelu{of_gelu};
extern constinit const Impl<A> elementwise_exp_cpu{
    {.launch = unary<[](const A&, const auto& f) { return f.exp; }, A>}};
extern constinit const Impl<A> relu_cpu{{.launch = unary<[](const A&, const auto& f) { return f.relu; }, A>}};
extern constinit const Impl<A> sigmoid_cpu{
    {.launch = unary<[](const A&, const auto& f) { return f.sigmoid; }, A>}};
extern constinit const Impl<A> tanh_cpu{{.launch = unary<[](const A&, const auto& f) { return f.tanh; }, A>}};
extern constinit const Impl<G> gelu_cpu{
    {.launch =
         unary<[](const G& a, const auto& f) { return a.form == GeluForm::erf ? f.gelu : f.gelu_tanh; }, G>}};

}  // namespace kolmo
