#include "kolmo/ops/dynamics/order_parameter/order_parameter_terms.hpp"
#include "kolmo/skeleton/row_sum.cuh"

namespace kolmo {
namespace {

/// Cosine and sine, within 2^-53 each; faster than those of CUDA, whose ulp may be smaller.
/// Method: x = k pi / 2 + r; polynomials in r^2 that interpolate at Chebyshev nodes, to 2^-56.
__device__ inline Sums<2> unit_vector(double x) {
  if (!(std::abs(x) < 0x1p20)) return {{std::cos(x), std::sin(x)}};
  constexpr double integers = 0x1.8p52;  // numbers of this size end in the digit of 1
  const double shifted = __fma_rn(x, 0x1.45f306dc9c883p-1, integers), k = __dadd_rn(shifted, -integers);
  const auto quadrant = unsigned(std::bit_cast<std::uint64_t>(shifted));
  const double r = __fma_rn(k, -0x1.1a62633145c07p-54, __fma_rn(k, -0x1.921fb54442d18p+0, x)), z = r * r;
  double sine = 1.5918115263265974e-10, cosine = -1.1382623647474604e-11;
  for (const double c : {-2.505113165023518e-08, 2.7557316101617874e-06, -0.00019841269836756774,
                         0.008333333333330948, -0.16666666666666666})
    sine = __fma_rn(sine, z, c);
  for (const double c : {2.087614614655861e-09, -2.7557317271145144e-07, 2.480158729876456e-05,
                         -0.0013888888888887398, 0.041666666666666664})
    cosine = __fma_rn(cosine, z, c);
  sine = __fma_rn(r * z, sine, r);
  cosine = __fma_rn(z * z, cosine, __fma_rn(z, -0.5, 1.0));
  const double along = quadrant & 1 ? sine : cosine, across = quadrant & 1 ? cosine : sine;
  return {{(quadrant + 1) & 2 ? -along : along, quadrant & 2 ? -across : across}};
}

template <class T>
struct PhaseRows {
  const T* theta;
  std::int64_t n;

  struct Row {
    const T* theta;
    __device__ T fetch(std::int64_t i) const { return theta[i]; }
    __device__ Sums<2> of(T phase) const { return unit_vector(double(phase)); }
    __device__ Sums<2> operator()(std::int64_t i) const { return of(fetch(i)); }
  };
  KOLMO_HD Row operator()(std::int64_t row) const { return {theta + row * n}; }
};

}  // namespace

extern constinit const Impl<OrderParameterArgs> order_parameter_cuda = cuda::row_sum<OrderSums<PhaseRows>>();

}  // namespace kolmo
