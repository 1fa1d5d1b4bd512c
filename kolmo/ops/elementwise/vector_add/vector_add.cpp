#include "kolmo/ops/elementwise/vector_add/vector_add.hpp"

namespace kolmo {
namespace {

void cpu(const VectorAddArgs& a, void*, Stream&) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    const T *x = a.x.as<T>(), *y = a.y.as<T>();
    T* z = a.z.as<T>();
    for (std::int64_t i = 0, n = a.x.size(); i < n; ++i) z[i] = T(x[i] + y[i]);
  });
}

// One rounding separates a sum from the exact one: half a unit in the last place of each dtype.
constexpr Case<VectorAddArgs> cases[] = {
    {.name = "one", .sizes = {{"...", 1}}, .dtype = DType::f64},
    {.name = "n=1000 f64", .sizes = {{"...", 1000}}, .dtype = DType::f64, .tolerance = 0x1p-53},
    {.name = "n=1025 f32", .sizes = {{"...", 1025}}, .dtype = DType::f32, .tolerance = 0x1p-24},
    {.name = "n=33 f16", .sizes = {{"...", 33}}, .dtype = DType::f16, .tolerance = 0x1p-11},
    {.name = "n=33 bf16", .sizes = {{"...", 33}}, .dtype = DType::bf16, .tolerance = 0x1p-8},
    {.name = "n=2^24 f32", .sizes = {{"...", 1 << 24}}, .dtype = DType::f32, .benchmark_only = true},
};

}  // namespace

constinit const Op<VectorAddArgs> vector_add{
    {.name = "vector_add",
     .summary = "z = x + y, element by element",
     .source = "elementary",
     .determinism = Determinism::everywhere,
     .in_place = true},
    {.flops = [](const VectorAddArgs& a) { return double(a.x.size()); }, .cpu = cpu, .cases = cases}};

}  // namespace kolmo
