#include "kolmo/ops/elementwise/binary/binary.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/elementwise/binary/functions.hpp"
#include "kolmo/skeleton/elementwise_cpu.hpp"

namespace kolmo {
namespace {
using A = BinaryArgs;

// A result is the exact one rounded once: the error is half a unit in the last place of each dtype.
constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"...", 1}}, .tolerance = relative(0x1p-53)},
    {.name = "n=1000 f64", .sizes = {{"...", 1000}}, .tolerance = relative(0x1p-53)},
    {.name = "n=1025 f32", .sizes = {{"...", 1025}}, .dtype = DType::f32, .tolerance = relative(0x1p-24)},
    {.name = "n=33 f16", .sizes = {{"...", 33}}, .dtype = DType::f16, .tolerance = {0x1p-25, 0x1p-11}},
    {.name = "n=33 bf16", .sizes = {{"...", 33}}, .dtype = DType::bf16, .tolerance = relative(0x1p-8)},
    {.name = "n=1100 f16", .sizes = {{"...", 1100}}, .dtype = DType::f16, .tolerance = {0x1p-25, 0x1p-11}},
    {.name = "n=1100 bf16", .sizes = {{"...", 1100}}, .dtype = DType::bf16, .tolerance = relative(0x1p-8)},
    {.name = "n=2^24 f32", .sizes = {{"...", 1 << 24}}, .dtype = DType::f32, .benchmark_only = true},
};

constexpr OpCode<A> code{.flops = [](const A& a) { return double(a.z.size()); }, .cases = cases};
constinit const Definition<A> sum{{.name = "vector_add",
                                   .summary = "z = x + y, element by element",
                                   .source = "elementary",
                                   .determinism = Determinism::everywhere,
                                   .in_place = true},
                                  code};
constinit const Definition<A> product{{.name = "elementwise_multiply",
                                       .summary = "z = x y, element by element",
                                       .source = "elementary",
                                       .determinism = Determinism::everywhere,
                                       .in_place = true},
                                      code};

}  // namespace

constinit const Op<A> vector_add{sum}, elementwise_multiply{product};
extern constinit const Impl<A> vector_add_cpu = cpu::elementwise<Binary<Sum>>();
extern constinit const Impl<A> elementwise_multiply_cpu = cpu::elementwise<Binary<Product>>();

}  // namespace kolmo
