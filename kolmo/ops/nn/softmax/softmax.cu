#include "kolmo/base/activation.hpp"
#include "kolmo/ops/nn/softmax/softmax.hpp"
#include "kolmo/ops/nn/softmax/softmax_rows.hpp"
#include "kolmo/skeleton/row_op.cuh"

namespace kolmo {
namespace {

/// e^x for x <= 0 or NaN. The float's error is at most 3 ulp, and it is 0 below 2^-126. Six instructions, where the function
/// for all x takes eight: rows that one grid holds are bound by them.
__device__ double exp_of_negative(double x) { return std::exp(x); }
__device__ float exp_of_negative(float x) {
#ifdef __CUDA_ARCH__
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(-104.0f));  // the remainder of -inf would be NaN
  const float y = x * 1.44269504f, power = power_of_2(y);
  return std::fma(power, std::fma(y, -0.69314718f, x), power);
#else
  return std::exp(x);
#endif
}

template <class T>
struct SoftmaxRow {
  using C = Compute<T>;
  using Part = Exponentials<C>;
  struct Whole {
    C largest, factor;
  };

  explicit SoftmaxRow(const SoftmaxArgs&) {}
  bool packed() const { return true; }

  template <class Values>
  __device__ Part part(Values& x) const {
    const C largest = x.largest(), from = largest == C(-INFINITY) ? C(0) : largest;
    return {largest, x.sum([=](C& v) { return v = exp_of_negative(v - from); })};
  }
  __device__ Whole whole(const Part& p) const { return {p.largest, 1 / p.sum}; }
  template <int W, bool Held>
  __device__ Pack<C, W> results(const C* x, std::int64_t, const Whole& row) const {
    Pack<C, W> y;
#pragma unroll
    for (int w = 0; w < W; ++w) y.value[w] = (Held ? x[w] : exp_of_negative(x[w] - row.largest)) * row.factor;
    return y;
  }
  __device__ void keep(std::int64_t, const Whole&) const {}
};

}  // namespace

extern constinit const Impl<SoftmaxArgs> softmax_cuda = cuda::row_op<SoftmaxArgs, SoftmaxRow>();

}  // namespace kolmo
