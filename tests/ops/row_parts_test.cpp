// Checks that softmax and layer_norm on the CPU, with rows in parts, give bits that do not depend on the
// number of threads.
#include "kolmo/runtime/cpu/row_parts.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/nn/layer_norm/layer_norm.hpp"
#include "kolmo/ops/nn/softmax/softmax.hpp"

namespace kolmo {
namespace {

/// Rows of k logits in memory of dtype t.
struct Rows {
  std::vector<std::byte> x, y;
  Tensor in, out;
  Rows(DType t, std::int64_t rows, std::int64_t k) : x(std::size_t(rows * k) * size_of(t)), y(x.size()) {
    const std::vector<std::int64_t> shape{rows, k};
    in = tensor(x.data(), t, shape), out = tensor(y.data(), t, shape);
    for (std::int64_t i = 0; i < rows * k; ++i)
      check::put(in, i, static_cast<long double>((i * 7919) % 1000) / 100 - 5);
  }
};

constexpr DType dtypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16};
constexpr std::int64_t lengths[] = {1, 3, 4095, 4096, 4097, 20001};

template <class Call>
void expect_same_bits(const Call& call) {
  for (const DType t : dtypes)
    for (const std::int64_t k : lengths) {
      Rows rows(t, 5, k);
      Stream one(Device{}, 1);
      call(rows, rows.out, one);
      const auto want = rows.y;
      for (const int threads : {2, 3, 8}) {
        std::fill(rows.y.begin(), rows.y.end(), std::byte{0xFF});
        Stream stream(Device{}, threads);
        call(rows, rows.out, stream);
        EXPECT_EQ(rows.y, want) << to_string(t) << ", k = " << k << ", " << threads << " threads";
      }
      Rows in_place(t, 5, k);
      Stream stream(Device{}, 3);
      call(in_place, in_place.in, stream);
      EXPECT_EQ(in_place.x, want) << to_string(t) << ", k = " << k << ", in place";
    }
}

TEST(RowParts, SoftmaxHasTheSameBitsForAnyNumberOfThreadsAndInPlace) {
  expect_same_bits(
      [](const Rows& r, const Tensor& y, Stream& s) { check::call(softmax, {.x = r.in, .y = y}, s); });
}

TEST(RowParts, LayerNormHasTheSameBitsForAnyNumberOfThreadsAndInPlace) {
  expect_same_bits([](const Rows& r, const Tensor& y, Stream& s) {
    check::call(layer_norm, {.x = r.in, .y = y, .activation = Activation::gelu}, s);
  });
}

TEST(RowParts, WhatMakesARowNanDoesSoWhereverItStands) {
  const std::int64_t k = 3 * row_part + 5;
  Stream stream(Device{}, 2);
  for (const std::int64_t at : {std::int64_t(0), row_part, k - 1})
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      std::vector<float> x(std::size_t(k), -std::numeric_limits<float>::infinity()), y(x.size());
      x[std::size_t(at)] = bad;
      softmax({.x = tensor(x.data(), {k}), .y = tensor(y.data(), {k})}, stream);
      for (const std::int64_t i : {std::int64_t(0), at, k - 1})
        EXPECT_NE(y[std::size_t(i)], y[std::size_t(i)]);
      x[std::size_t(at)] = 3;
      softmax({.x = tensor(x.data(), {k}), .y = tensor(y.data(), {k})}, stream);
      EXPECT_EQ(y[std::size_t(at)], 1) << "a part of -inf only counts nothing";
    }
}

TEST(RowParts, CombinesPartsInTheirOrder) {
  struct Span {
    std::int64_t begin, end;
  };
  const std::int64_t rows = 3, k = 2 * row_part + 1;
  Arena counting;
  take_row_parts<Span>(counting, rows, k);
  std::vector<Span> workspace(counting.used() / sizeof(Span));
  std::vector<int> written(std::size_t(rows * k));
  Arena arena(workspace.data());
  for_row_parts(
      3, rows, k, take_row_parts<Span>(arena, rows, k),
      [](std::int64_t, std::int64_t begin, std::int64_t n) {
        return Span{begin, begin + n};
      },
      [](const Span& a, const Span& b) {
        EXPECT_EQ(a.end, b.begin);
        return Span{a.begin, b.end};
      },
      [&](std::int64_t row, std::int64_t begin, std::int64_t n, const Span& part, const Span& whole) {
        EXPECT_EQ(part.begin, begin);
        EXPECT_TRUE(whole.begin == 0 && whole.end == k);
        for (std::int64_t i = begin; i < begin + n; ++i) ++written[std::size_t(row * k + i)];
      });
  EXPECT_EQ(written, std::vector<int>(written.size(), 1));
  EXPECT_EQ(counting.used(), (std::size_t(rows) * 4 * sizeof(Span) + 127) / 128 * 128);
  Arena none;
  take_row_parts<Span>(none, 1000, row_part);
  EXPECT_EQ(none.used(), 0u) << "one part a row needs no memory";
}

}  // namespace
}  // namespace kolmo
