#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace kolmo::cuda {
namespace {

/// Cosines and sines of W angles.
template <int W>
struct UnitVectors {
  double cosine[W], sine[W];
};

/// Cosines and sines of angles below 2^20, each within 2^-53. Several angles are computed together, since
/// each takes all coefficients. Method: x = k pi / 2 + r; polynomials in r^2 that interpolate at Chebyshev
/// nodes, to 2^-56.
template <int W>
__device__ inline UnitVectors<W> near_unit_vectors(const double (&x)[W]) {
  constexpr double integers = 0x1.8p52;  // numbers near it are spaced by 1, so adding it rounds to an integer
  UnitVectors<W> to;
  double r[W], z[W];
  unsigned quadrant[W];
  const auto negative = [](double value, unsigned if_2) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ std::uint64_t(if_2 & 2) << 62);
  };
  const auto each = [](auto&& f) {
#pragma unroll
    for (int w = 0; w < W; ++w) f(w);
  };
  each([&](int w) {
    const double shifted = __fma_rn(x[w], 0x1.45f306dc9c883p-1, integers), k = __dadd_rn(shifted, -integers);
    quadrant[w] = unsigned(std::bit_cast<std::uint64_t>(shifted));
    r[w] = __fma_rn(k, -0x1.1a62633145c07p-54, __fma_rn(k, -0x1.921fb54442d18p+0, x[w])), z[w] = r[w] * r[w];
    to.sine[w] = 1.5918115263265974e-10, to.cosine[w] = -1.1382623647474604e-11;
  });
  for (const double c : {-2.505113165023518e-08, 2.7557316101617874e-06, -0.00019841269836756774,
                         0.008333333333330948, -0.16666666666666666})
    each([&](int w) { to.sine[w] = __fma_rn(to.sine[w], z[w], c); });
  for (const double c : {2.087614614655861e-09, -2.7557317271145144e-07, 2.480158729876456e-05,
                         -0.0013888888888887398, 0.041666666666666664, -0.5, 1.0})
    each([&](int w) { to.cosine[w] = __fma_rn(to.cosine[w], z[w], c); });
  each([&](int w) {
    const double sine = __fma_rn(r[w] * z[w], to.sine[w], r[w]), cosine = to.cosine[w];
    const double along = quadrant[w] & 1 ? sine : cosine, across = quadrant[w] & 1 ? cosine : sine;
    to.cosine[w] = negative(along, quadrant[w] + 1), to.sine[w] = negative(across, quadrant[w]);
  });
  return to;
}

[[gnu::noinline]] __device__ UnitVectors<1> unit_vector_of_any(double x) {
  return {{std::cos(x)}, {std::sin(x)}};
}

/// Cosines and sines of any angles. Angles below 2^20 take a way that is faster than CUDA's functions, whose
/// error may be smaller.
template <int W, class T>
__device__ UnitVectors<W> unit_vectors(const T (&x)[W]) {
  bool near = true;
  double angle[W];
#pragma unroll
  for (int w = 0; w < W; ++w) near &= std::abs(x[w]) < T(0x1p20), angle[w] = double(x[w]);
  if (near) return near_unit_vectors(angle);
  UnitVectors<W> to;
#pragma unroll
  for (int w = 0; w < W; ++w) {
    const auto one = unit_vector_of_any(angle[w]);
    to.cosine[w] = one.cosine[0], to.sine[w] = one.sine[0];
  }
  return to;
}

}  // namespace
}  // namespace kolmo::cuda
