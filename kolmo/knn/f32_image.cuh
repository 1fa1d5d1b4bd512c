#pragma once
// Images of points in f32, by which a search computes few distances in f64. The results have the same bits.
//
// The image of a value v of a column is a = f32((v - centre) * scale), clamped to +-2^125; scale is a power of two and the
// same in all columns of a space. Let r be a distance of two points as computed in f64, times scale, and d the distance of
// their images as computed in f32. With u = 2^-24, an image is off by u |a|, and d by u d, so that
//   |d - r| <= 2.01 u (own + d) + 2^-148,
// where `own` is the largest magnitude in the image of either point, since that in the other's is at most own + d. Bounds
// allow for 8 u (own + d) + 2^-120, which covers their own rounding and f32 without subnormal numbers.
#include <bit>
#include <cmath>
#include <cstdint>

#include "kolmo/knn/distance.cuh"
#include "kolmo/knn/finite.hpp"

namespace kolmo::cuda {
namespace {

/// Where most values of a column are. Any finite values give the same bits; these make for few distances in f64.
struct Frame {
  double centre, spread;
};

/// at(i) is value i of n in ascending order; with several problems, in ascending order within each.
template <class At>
__device__ Frame frame_of(std::int64_t n, At at) {
  const double middle = at(n / 2), centre = is_finite(middle) ? middle : 0;
  double spread = larger(distance_of(at(n / 4), centre), distance_of(at(n / 4 + n / 2), centre));
  if (!(spread > 0)) spread = larger(distance_of(at(0), centre), distance_of(at(n - 1), centre));
  return {centre, spread < 0x1p1023 ? spread : 0x1p1023};
}

/// A power of two that brings a spread near 1.
__device__ inline double scale_of(double spread) {
  int exponent = 1023 - int(std::bit_cast<std::uint64_t>(spread) >> 52);
  exponent = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
  return std::bit_cast<double>(std::uint64_t(1023 + exponent) << 52);
}

/// The image is a number even if the value is none. Values are scaled first if that keeps differences from overflow.
__device__ inline float image_of(double value, double centre, double scale) {
  constexpr float most = 0x1p125f;
  const double before = scale < 1 ? scale : 1, after = scale < 1 ? 1 : scale;
  return fminf(fmaxf(float((value * before - centre * before) * after), -most), most);
}

/// The bounds that distances of images from one point set to the exact distances from it.
struct ImageBounds {
  double scale;
  float own;  // the largest magnitude in the image of the point

  /// Points whose images are not nearer than this are not nearer than `radius`, which is scaled.
  __device__ float wider(float radius) const {
    return radius + own < 0x1p120f ? radius + slack(radius) : INFINITY;
  }
  /// Points whose images are nearer than this are nearer than `radius`.
  __device__ float tighter(float radius) const {
    return radius + own < 0x1p120f ? radius - slack(radius) : 0;
  }
  /// Both bounds take a radius that is not scaled. No point is nearer than 0.
  __device__ float outer(double radius) const { return radius > 0 ? wider(float(radius * scale)) : 0; }
  __device__ float inner(double radius) const { return tighter(float(radius * scale)); }

 private:
  __device__ float slack(float radius) const { return 0x1p-21f * (radius + own) + 0x1p-120f; }
};
/// Without images, distances are what they are.
struct ExactBounds {
  template <class T>
  __device__ T outer(T radius) const {
    return radius;
  }
  template <class T>
  __device__ T inner(T radius) const {
    return radius;
  }
};

/// Puts off what a lane does with a point until it meets another one. Most lanes meet one, and then work together at the
/// end.
struct Later {
  std::int64_t at = -1;
  template <class F>
  __device__ void add(std::int64_t next, F f) {
    if (at >= 0) f(at);
    at = next;
  }
  template <class F>
  __device__ void finish(F f) {
    if (at >= 0) f(at);
    at = -1;
  }
};

}  // namespace
}  // namespace kolmo::cuda
