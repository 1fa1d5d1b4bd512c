#include "kolmo/device/activation.cuh"
#include "kolmo/ops/nn/layer_norm/layer_norm.hpp"
#include "kolmo/ops/nn/layer_norm/layer_norm_rows.hpp"
#include "kolmo/skeleton/row_op.cuh"

namespace kolmo {
namespace {

template <class T>
struct LayerNormRow {
  using C = Compute<T>;
  using Part = Moments<C>;
  struct Whole {
    C mean, rstd;
  };
  static constexpr bool reads_columns() { return true; }
  const T *scale, *shift;
  double *mean, *rstd;
  C eps;
  Activation activation;

  explicit LayerNormRow(const LayerNormArgs& a)
      : scale(a.scale.as<T>()),
        shift(a.shift.as<T>()),
        mean(a.mean.as<double>()),
        rstd(a.rstd.as<double>()),
        eps(C(a.eps)),
        activation(a.activation) {}
  bool packed() const { return packed_rows<T>(1, 0, scale, shift); }

  template <class Values>
  __device__ Part part(Values& x) const {
    const C n = x.count(), m = x.sum([](C v) { return v; }) / n;
    return {n, m, x.sum([=](C v) { return (v - m) * (v - m); })};
  }
  __device__ Whole whole(const Part& p) const { return {p.mean, 1 / std::sqrt(p.squares / p.n + eps)}; }
  template <int W, bool>
  __device__ Pack<C, W> results(const C* x, std::int64_t at, const Whole& row) const {
    Pack<C, W> y;
#pragma unroll
    for (int w = 0; w < W; ++w) y.value[w] = (x[w] - row.mean) * row.rstd;
    if (scale) {
      const Pack<C, W> factor = widened(load_pack<W>(scale + at));
#pragma unroll
      for (int w = 0; w < W; ++w) y.value[w] *= factor.value[w];
    }
    if (shift) {
      const Pack<C, W> summand = widened(load_pack<W>(shift + at));
#pragma unroll
      for (int w = 0; w < W; ++w) y.value[w] += summand.value[w];
    }
    if (activation == Activation::none) return y;
    if constexpr (sizeof(C) == 8) {
      return cuda::activated(activation, y);
    } else {
#pragma unroll
      for (int w = 0; w < W; ++w) y.value[w] = activate(activation, y.value[w]);
      return y;
    }
  }
  __device__ void keep(std::int64_t row, const Whole& of) const {
    if (mean) mean[row] = double(of.mean);
    if (rstd) rstd[row] = double(of.rstd);
  }
};

}  // namespace

extern constinit const Impl<LayerNormArgs> layer_norm_cuda = cuda::row_op<LayerNormArgs, LayerNormRow>();

}  // namespace kolmo
