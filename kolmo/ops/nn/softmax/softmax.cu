#include "kolmo/ops/nn/softmax/softmax.hpp"
#include "kolmo/ops/nn/softmax/softmax_rows.hpp"
#include "kolmo/skeleton/row_op.cuh"

namespace kolmo {
namespace {

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
    return {largest, x.sum([=](C& v) { return v = std::exp(v - from); })};
  }
  __device__ Whole whole(const Part& p) const { return {p.largest, 1 / p.sum}; }
  template <int W, bool Held>
  __device__ Pack<C, W> results(const C* x, std::int64_t, const Whole& row) const {
    Pack<C, W> y;
#pragma unroll
    for (int w = 0; w < W; ++w) y.value[w] = (Held ? x[w] : std::exp(x[w] - row.largest)) * row.factor;
    return y;
  }
  __device__ void keep(std::int64_t, const Whole&) const {}
};

}  // namespace

extern constinit const Impl<SoftmaxArgs> softmax_cuda = cuda::row_op<SoftmaxArgs, SoftmaxRow>();

}  // namespace kolmo
