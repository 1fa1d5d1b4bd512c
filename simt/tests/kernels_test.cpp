// Every test kernel, compared with a plain computation on the host. Built for the emulator, and with nvcc for
// a GPU.

#include "kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "device_memory.hpp"

using namespace DEVICE;

namespace {

std::vector<float> randoms(std::size_t n, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(n);
  for (float& v : values) v = uniform(generator);
  return values;
}

template <class T, class U>
void expect_near(const std::vector<T>& got, const std::vector<U>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[i]), static_cast<double>(want[i]), tolerance) << "at " << i;
}

/// Runs a kernel that checks itself; returns 0 or the line of its failed check.
template <class F>
int failed_line(F f) {
  DeviceArray<int> failed(1);
  f(failed.data());
  return failed.read()[0];
}

template <class T>
void check_softmax(int rows, int n, int block, double tolerance) {
  const auto random = randoms(rows * n);
  std::vector<T> x(random.begin(), random.end());
  std::vector<long double> want(x.size());
  for (T& v : x) v *= 10;
  for (int r = 0; r < rows; ++r) {
    long double highest = -INFINITY, sum = 0;
    for (int i = r * n; i < (r + 1) * n; ++i) highest = std::max<long double>(highest, x[i]);
    for (int i = r * n; i < (r + 1) * n; ++i) sum += want[i] = std::exp(x[i] - highest);
    for (int i = r * n; i < (r + 1) * n; ++i) want[i] /= sum;
  }
  DeviceArray<T> in(x), out(x.size(), T(NAN));
  softmax(in.data(), out.data(), rows, n, block);
  expect_near(out.read(), want, tolerance);
}

// Rounds a float to a format with `kept` bits of fraction.
float rounded(float f, int kept) {
  int exponent;
  const float fraction = std::frexp(f, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, kept + 1)), exponent - kept - 1);
}

template <class Round, class Multiply>
void check_tensor_cores(Round round, Multiply multiply, int kept) {
  const int m = 32, n = 64, k = 48;
  auto a = randoms(m * k), b = randoms(k * n, 2);
  DeviceArray<float> a32(a), b32(b);
  DeviceArray<std::uint16_t> a16(a.size()), b16(b.size());
  DeviceArray<float> c(m * n, NAN);
  round(a32.data(), a16.data(), m * k), round(b32.data(), b16.data(), k * n);
  multiply(a16.data(), b16.data(), c.data(), m, n, k);
  std::vector<double> want(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int p = 0; p < k; ++p)
        want[i * n + j] += 2.0 * rounded(a[i * k + p], kept) * rounded(b[j * k + p], kept);
  expect_near(c.read(), want, 2e-5);
}

}  // namespace

TEST(Kernels, Axpy) {
  for (const int n : {1, 3, 4, 1000, 4099}) {
    const auto x = randoms(n);
    auto y = randoms(n, 2);
    DeviceArray<float> dx(x), dy(y);
    axpy(dx.data(), dy.data(), 2.5f, n);
    for (int i = 0; i < n; ++i) y[i] = std::fma(2.5f, x[i], y[i]);
    EXPECT_EQ(dy.read(), y);
  }
}

TEST(Kernels, Scan) {
  const int rows = 3;
  const auto x = randoms(rows * 1024);
  const std::vector<double> x64(x.begin(), x.end());
  std::vector<double> want(x.size());
  for (int i = 0; i < rows * 1024; ++i) want[i] = (i % 1024 ? want[i - 1] : 0) + x64[i];
  DeviceArray<float> in(x), out(x.size(), NAN);
  DeviceArray<double> in64(x64), out64(x.size(), NAN);
  scan(in.data(), out.data(), rows);
  scan(in64.data(), out64.data(), rows);
  expect_near(out.read(), want, 1e-4);
  expect_near(out64.read(), want, 1e-12);
}

TEST(Kernels, Softmax) {
  for (const int block : {32, 64, 256}) {
    check_softmax<float>(7, 1000, block, 1e-6);
    check_softmax<double>(5, 33, block, 1e-14);
  }
}

TEST(Kernels, Matmul) {
  for (const auto& [m, n, k] : {std::tuple{16, 16, 16}, {33, 45, 70}}) {
    const auto a = randoms(m * k), b = randoms(k * n, 2);
    std::vector<double> want(m * n);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j)
        for (int p = 0; p < k; ++p) want[i * n + j] += static_cast<double>(a[i * k + p]) * b[p * n + j];
    DeviceArray<float> da(a), db(b), dc(m * n, NAN);
    matmul(da.data(), db.data(), dc.data(), m, n, k);
    expect_near(dc.read(), want, 1e-5);
  }
}

TEST(Kernels, Histogram) {
  const int n = 20'000, bins = 77;
  std::mt19937 generator(1);
  std::vector<int> x(n);
  std::vector<unsigned> want(bins);
  std::vector<float> want_sums(bins);
  for (int& v : x) v = static_cast<int>(generator() % bins), ++want[v], want_sums[v] += 0.5f;
  DeviceArray<int> dx(x);
  DeviceArray<unsigned> counts(bins);
  DeviceArray<float> sums(bins);
  histogram(dx.data(), counts.data(), sums.data(), n, bins, 8);
  EXPECT_EQ(counts.read(), want);
  EXPECT_EQ(sums.read(), want_sums);
}

TEST(Kernels, TensorCoresHalf) { check_tensor_cores(round_to_half, multiply_half, 10); }
TEST(Kernels, TensorCoresBfloat16) { check_tensor_cores(round_to_bfloat16, multiply_bfloat16, 7); }

TEST(Kernels, AsynchronousCopies) {
  for (const int n : {1, 64, 129, 514}) {
    const auto x = randoms((n + 3) / 4 * 4);
    std::vector<double> want((n + 63) / 64);
    for (int i = 0; i < n; ++i) want[i / 64] += x[i];
    DeviceArray<float> dx(x), sums(want.size());
    sums_of_tiles(dx.data(), sums.data(), n);
    expect_near(sums.read(), want, 1e-5);
  }
}

TEST(Language, WarpFunctions) {
  for (const int threads : {32, 96, 1024})
    EXPECT_EQ(0, failed_line([=](int* failed) { check_warp_functions(failed, threads); }))
        << "in primitives.cu";
}
TEST(Language, BlockFunctions) {
  for (const int threads : {41, 256, 1024})
    EXPECT_EQ(0, failed_line([=](int* failed) { check_block_functions(failed, threads); }))
        << "in primitives.cu";
}
TEST(Language, PartialWarp) { EXPECT_EQ(0, failed_line(check_partial_warp)) << "in primitives.cu"; }
TEST(Language, Coordinates) {
  DeviceArray<int> seen(2 * 3 * 4 * 5 * 6 * 7);
  mark_coordinates(seen.data());
  const auto marks = seen.read();
  EXPECT_EQ(std::count(marks.begin(), marks.end(), 1), static_cast<std::ptrdiff_t>(marks.size()));
}
TEST(Language, Atomics) {
  for (const int threads : {64, 256})
    EXPECT_EQ(0, failed_line([=](int* failed) { check_atomics(failed, threads); })) << "in atomics.cu";
}
TEST(Language, Numbers) { EXPECT_EQ(0, failed_line(check_numbers)) << "in arithmetic.cu"; }
TEST(Language, SmallFloats) { EXPECT_EQ(0, failed_line(check_small_floats)) << "in arithmetic.cu"; }
