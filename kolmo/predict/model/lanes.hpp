#pragma once
// Products and functions over arrays [unit][lane]: a lane is a training that a network reads, and all lanes are computed alike.
// Sums are taken in one order, whatever the instruction set, and nothing is fused, so that the bits are the same everywhere.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace kolmo::predict {

inline constexpr int training_lanes = 16;

/// c_0 x^k + c_1 x^(k-1) + ... + c_k. There is no loop, so that a loop over lanes becomes vectors.
template <class T, class... C>
inline T polynomial_lane(T x, C... c) {
  T sum = 0;
  ((sum = sum * x + T(c)), ...);
  return sum;
}
/// e^x for |x| up to 87 (float) or 708 (double); beyond, that of the bound. The relative error is below 4 units of T.
/// Method: x = k ln 2 + r with |r| < 0.35, and the series of e^r.
template <class T>
inline T exp_lane(T x) {
  constexpr bool single = sizeof(T) == 4;
  using Bits = std::conditional_t<single, std::uint32_t, std::uint64_t>;
  constexpr T bound = single ? T(87) : T(708), magic = single ? T(0x1.8p23) : T(0x1.8p52);
  constexpr T high = single ? T(0x1.62e4p-1) : T(0x1.62e42fefap-1);  // k times it is exact
  constexpr T low = single ? T(0x1.7f7d1cf79abcap-20) : T(0x1.cf79abc9e3b3ap-40);
  x = x < -bound ? -bound : x;
  x = x > bound ? bound : x;
  const T shifted = x * T(1.4426950408889634) + magic, k = shifted - magic;
  const T r = x - k * high - k * low;
  T series;
  if constexpr (single)
    series = polynomial_lane(r, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1);
  else
    series = polynomial_lane(r, 1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880,
                             1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1);
  constexpr int digits = single ? 23 : 52;
  return std::bit_cast<T>(Bits(std::bit_cast<Bits>(shifted) << digits) + std::bit_cast<Bits>(T(1))) * series;
}
template <class T>
inline T sigmoid_lane(T x) {
  return 1 / (1 + exp_lane(-x));
}
template <class T>
inline T tanh_lane(T x) {
  return 1 - 2 / (1 + exp_lane(2 * x));
}

/// The lanes of a unit as one vector.
template <class T>
struct LaneVector;
template <>
struct LaneVector<float> {
  typedef float Type [[gnu::vector_size(4 * training_lanes)]];
};
template <>
struct LaneVector<double> {
  typedef double Type [[gnu::vector_size(8 * training_lanes)]];
};
template <class T>
inline void load_lanes(typename LaneVector<T>::Type& v, const T* array, int unit) {
  std::memcpy(&v, array + std::ptrdiff_t(unit) * training_lanes, sizeof v);
}
template <class T>
inline void store_lanes(const typename LaneVector<T>::Type& v, T* array, int unit) {
  std::memcpy(array + std::ptrdiff_t(unit) * training_lanes, &v, sizeof v);
}

/// y_p += sum over q < n of w[p sp + q sq] x_q for p < m. With one lane, sp is 1.
template <int Lanes, class T>
inline void add_product(const T* w, std::ptrdiff_t sp, std::ptrdiff_t sq, int m, int n, const T* x, T* y) {
  if constexpr (Lanes == 1) {
    (void)sp;
    for (int q = 0; q < n; ++q, w += sq) {
      const T of_x = x[q];
#pragma omp simd
      for (int p = 0; p < m; ++p) y[p] += w[p] * of_x;
    }
  } else {
    static_assert(Lanes == training_lanes);
    using V = typename LaneVector<T>::Type;
    const auto rows = [&]<int Rows>(int p) {
      V sum[Rows];
      for (int i = 0; i < Rows; ++i) load_lanes(sum[i], y, p + i);
      for (int q = 0; q < n; ++q) {
        V lane;
        load_lanes(lane, x, q);
        for (int i = 0; i < Rows; ++i) sum[i] += lane * w[(p + i) * sp + q * sq];
      }
      for (int i = 0; i < Rows; ++i) store_lanes(sum[i], y, p + i);
    };
    int p = 0;
    for (; p + 8 <= m; p += 8) rows.template operator()<8>(p);
    for (; p < m; ++p) rows.template operator()<1>(p);
  }
}

/// The sum of the lanes.
template <class T>
inline T sum_of_lanes(const typename LaneVector<T>::Type& v) {
  T sum = 0;
  for (int i = 0; i < training_lanes; ++i) sum += v[i];
  return sum;
}

/// w[q m + p] += sum over steps and lanes of x_q g_p for q < n, p < m: the gradient of the weights of add_product. The arrays of the
/// next step begin `x_step` and `g_step` units later.
template <class T>
inline void add_outer(int n, int m, int steps, const T* x, int x_step, const T* g, int g_step, T* w) {
  using V = typename LaneVector<T>::Type;
  const auto tile = [&]<int Rows, int Columns>(int q, int p) {
    V sum[Rows][Columns] = {};
    for (int t = 0; t < steps; ++t) {
      V of_g[Columns];
      for (int j = 0; j < Columns; ++j) load_lanes(of_g[j], g, t * g_step + p + j);
      for (int i = 0; i < Rows; ++i) {
        V of_x;
        load_lanes(of_x, x, t * x_step + q + i);
        for (int j = 0; j < Columns; ++j) sum[i][j] += of_x * of_g[j];
      }
    }
    for (int i = 0; i < Rows; ++i)
      for (int j = 0; j < Columns; ++j) w[std::ptrdiff_t(q + i) * m + p + j] += sum_of_lanes<T>(sum[i][j]);
  };
  for (int p = 0; p < m;) {
    const int columns = m - p >= 4 ? 4 : 1;
    int q = 0;
    for (; columns == 4 && q + 4 <= n; q += 4) tile.template operator()<4, 4>(q, p);
    for (; q < n; ++q)
      columns == 4 ? tile.template operator()<1, 4>(q, p) : tile.template operator()<1, 1>(q, p);
    p += columns;
  }
}

}  // namespace kolmo::predict
