#pragma once
// Reductions over the 32 lanes of a warp, or over each of its groups of 2, 4, 8 or 16. Every lane of the group must take
// part and gets the result.
namespace kolmo::cuda {
namespace {

template <int Lanes = 32, class T, class Combine>
__device__ T warp_reduce(T v, Combine combine) {
  unsigned group = ~0u;
  if constexpr (Lanes < 32) group = ((1u << Lanes) - 1) << (threadIdx.x % 32 / Lanes * Lanes);
#pragma unroll
  for (int half = Lanes / 2; half; half /= 2) v = combine(v, __shfl_xor_sync(group, v, half));
  return v;
}
template <class T>
__device__ T warp_sum(T v) {
  return warp_reduce(v, [](T a, T b) { return a + b; });
}
/// Computes N sums side by side, whose shuffles do not wait for each other.
template <class T, int N>
__device__ void warp_sums(T (&v)[N]) {
#pragma unroll
  for (int half = 16; half; half /= 2)
#pragma unroll
    for (int i = 0; i < N; ++i) v[i] += __shfl_xor_sync(~0u, v[i], half);
}
template <class T>
__device__ T warp_min(T v) {
  return warp_reduce(v, [](T a, T b) { return b < a ? b : a; });
}
template <class T>
__device__ T warp_max(T v) {
  return warp_reduce(v, [](T a, T b) { return a < b ? b : a; });
}

}  // namespace
}  // namespace kolmo::cuda
