#include "mine/scale_by/scale_by.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/skeleton/elementwise_cpu.hpp"

namespace kolmo {
namespace {
using A = ScaleByArgs;

// The result of a product or quotient is rounded once.
constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"...", 1}}, .tolerance = relative(0x1p-53)},
    {.name = "n=1000 f32", .sizes = {{"...", 1000}}, .dtype = DType::f32, .tolerance = relative(0x1p-24)},
};

constexpr OpCode<A> code{.flops = [](const A& a) { return double(a.x.size()); }, .cases = cases};
constinit const Definition<A> of_product{{.name = "scale_by",
                                          .summary = "y = factor x, element by element",
                                          .source = "elementary",
                                          .determinism = Determinism::everywhere},
                                         code};
constinit const Definition<A> of_quotient{{.name = "divide_by",
                                           .summary = "y = x / factor, element by element",
                                           .source = "elementary",
                                           .determinism = Determinism::everywhere},
                                          code};

}  // namespace

constinit const Op<A> scale_by{of_product}, divide_by{of_quotient};
extern constinit const Impl<A> scale_by_cpu = cpu::elementwise<ScaleByElements<ScaleByFunction>>();
extern constinit const Impl<A> divide_by_cpu = cpu::elementwise<ScaleByElements<DivideByFunction>>();

}  // namespace kolmo
