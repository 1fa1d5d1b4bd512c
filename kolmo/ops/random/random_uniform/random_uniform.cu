#include "kolmo/device/random.cuh"
#include "kolmo/ops/random/random_uniform/random_uniform.hpp"

namespace kolmo {
namespace {
using A = RandomUniformArgs;

constexpr Variant variants[] = {
    {"block 256"}, {"block 128"}, {"block 512"}, {.name = "value by value", .naive = true}};
static_assert(std::size(variants) == std::size(cuda::random_shapes));

template <class T>
RandomSequence<T, UniformValue<T>> sequence(const A& a) {
  using C = Compute<T>;
  return {Philox(std::uint64_t(a.seed)), {C(a.low), C(a.high) - C(a.low)}, a.offset, a.n, a.values.as<T>()};
}

void launch(const A& a, void*, Stream& s, int variant) {
  visit<double, float, Half, BFloat16>(a.values.dtype,
                                       [&]<class T> { cuda::write_sequence(variant, sequence<T>(a), s); });
}

}  // namespace

extern constinit const CudaImpl random_uniform_cuda = cuda_impl<A, launch>(variants);

}  // namespace kolmo
