#pragma once
// Distances in the maximum norm.
#include <cmath>
#include <cstdint>

namespace kolmo::cuda {
namespace {

template <class T>
__device__ T distance_of(T a, T b) {
  return fabs(a - b);
}
template <class T>
__device__ T larger(T a, T b) {
  return a > b ? a : b;
}
/// The largest distance over `count` columns.
template <class T>
__device__ T distance_of(const T* column, int count, std::int64_t column_step, int a, int b) {
  T far = 0;
  for (int c = 0; c < count; ++c, column += column_step) far = larger(far, distance_of(column[a], column[b]));
  return far;
}

}  // namespace
}  // namespace kolmo::cuda
