#include "mine/scale_by/scale_by.hpp"

namespace kolmo {
namespace {

void cpu(const ScaleByArgs& a, void*, Stream&) {
  visit<double, float>(a.x.dtype, [&]<class T> {
    for (std::int64_t i = 0, n = a.x.size(); i < n; ++i) a.y.as<T>()[i] = T(a.factor) * a.x.as<T>()[i];
  });
}

// One rounding of a product.
constexpr Case<ScaleByArgs> cases[] = {
    {.name = "one", .sizes = {{"...", 1}}, .tolerance = 0x1p-52},
    {.name = "n=1000 f32", .sizes = {{"...", 1000}}, .dtype = DType::f32, .tolerance = 0x1p-22},
};

}  // namespace

constinit const Op<ScaleByArgs> scale_by{
    {.name = "scale_by", .summary = "y = factor x, element by element", .source = "elementary"},
    {.flops = [](const ScaleByArgs& a) { return double(a.x.size()); }, .cpu = cpu, .cases = cases}};

}  // namespace kolmo
