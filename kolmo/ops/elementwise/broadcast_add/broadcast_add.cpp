#include "kolmo/ops/elementwise/broadcast_add/broadcast_add.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/skeleton/elementwise_cpu.hpp"

namespace kolmo {
namespace {
using A = BroadcastAddArgs;

template <class C>
struct AddBias {
  explicit AddBias(const A&) {}
  C operator()(C x, C bias) const { return x + bias; }
};

// A result is the exact one rounded once: the error is half a unit in the last place of each dtype.
constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"...", 1}, {"f", 1}}, .tolerance = relative(0x1p-53)},
    {.name = "7 x 33 f64", .sizes = {{"...", 7}, {"f", 33}}, .tolerance = relative(0x1p-53)},
    {.name = "65 x 12 f64", .sizes = {{"...", 65}, {"f", 12}}, .tolerance = relative(0x1p-53)},
    {.name = "5 x 256 f32",
     .sizes = {{"...", 5}, {"f", 256}},
     .dtype = DType::f32,
     .tolerance = relative(0x1p-24)},
    {.name = "300 x 1 f32",
     .sizes = {{"...", 300}, {"f", 1}},
     .dtype = DType::f32,
     .tolerance = relative(0x1p-24)},
    {.name = "9 x 40 f16",
     .sizes = {{"...", 9}, {"f", 40}},
     .dtype = DType::f16,
     .tolerance = {0x1p-25, 0x1p-11}},
    {.name = "3 x 17 bf16",
     .sizes = {{"...", 3}, {"f", 17}},
     .dtype = DType::bf16,
     .tolerance = relative(0x1p-8)},
    {.name = "16384 x 1024 f32",
     .sizes = {{"...", 16384}, {"f", 1024}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "16384 x 1024 f16",
     .sizes = {{"...", 16384}, {"f", 1024}},
     .dtype = DType::f16,
     .benchmark_only = true},
};

constinit const Definition<A> definition{
    {.name = "broadcast_add",
     .summary = "y = x + bias, the bias added to every row",
     .source = "elementary",
     .determinism = Determinism::everywhere,
     .in_place = true},
    {.flops = [](const A& a) { return double(a.y.size()); }, .cases = cases}};

}  // namespace

constinit const Op<A> broadcast_add{definition};
extern constinit const Impl<A> broadcast_add_cpu =
    cpu::elementwise<Elements<A, AddBias, FloatTypes, &A::y, &A::x, &A::bias>>();

}  // namespace kolmo
