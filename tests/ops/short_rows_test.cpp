// Sums of rows have the same bits for every length and alignment. On a GPU a few threads with loads of 16
// bytes compute short rows; the bits are those of the CPU, whichever instruction set the CPU uses.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <array>
#include <vector>

#include "kolmo/check/problem.hpp"
#include "kolmo/ops/dense/dot_product/dot_product.hpp"
#include "kolmo/ops/reduce/reduce_sum/reduce_sum.hpp"

namespace kolmo::check {
namespace {

constexpr DType dtypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16};

/// Returns the sums of `rows` rows of k elements, from the `skipped`-th element on.
std::vector<std::byte> sums(const std::vector<Tensor>& tensors, std::int64_t skipped, std::int64_t rows,
                            std::int64_t k, Device device) {
  const DType dtype = tensors[0].dtype;
  const auto part = [&](const Tensor& t) {
    auto* const data = static_cast<std::byte*>(t.data) + skipped * std::int64_t(size_of(dtype));
    return tensor(static_cast<void*>(data), dtype, std::array{rows, k}, device);
  };
  std::vector<std::byte> out(std::size_t(rows) * size_of(dtype));
  const Tensor result = tensor(static_cast<void*>(out.data()), dtype, std::array{rows}, device);
  Stream stream(device);
  if (tensors.size() == 1)
    reduce_sum({.x = part(tensors[0]), .sum = result}, stream);
  else
    dot_product({.x = part(tensors[0]), .y = part(tensors[1]), .dot = result}, stream);
  stream.synchronize();
  return out;
}

/// Two tensors of n elements.
struct Factors {
  std::vector<Array> host;
  std::vector<Tensor> one, two;
  Factors(DType dtype, int n) {
    for (std::uint64_t i = 0; i < 2; ++i) {
      host.emplace_back(dtype, std::vector<int>{n});
      draw(host.back().tensor, Domain::real, 7, i);
      put(host.back().tensor, 5, -0.0L);
      two.push_back(host.back().tensor);
    }
    one.push_back(two[0]);
  }
};

TEST(ShortRows, HaveTheBitsOfTheCpu) {
  const Device simt{DeviceKind::simt};
  if (!available(simt)) GTEST_SKIP() << "this build has no emulated GPU";
  for (const DType dtype : dtypes) {
    const Factors factors(dtype, 300 * 40);
    for (std::int64_t k = 1; k <= 40; ++k)
      for (const std::int64_t rows : {1, 3, 257})
        for (const std::int64_t skipped : {0, 1})
          for (const auto& tensors : {factors.one, factors.two})
            ASSERT_EQ(sums(tensors, skipped, rows, k, simt), sums(tensors, skipped, rows, k, {}))
                << to_string(dtype) << " " << rows << " rows of " << k << " from " << skipped << ", "
                << tensors.size() << " tensors";
  }
}

TEST(Rows, HaveTheSameBitsWithAnyInstructionSet) {
  const std::int64_t all = hwy::SupportedTargets();
  const auto use = [](std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  for (const DType dtype : dtypes) {
    const Factors factors(dtype, 3 * 2100);
    for (const std::int64_t k : {1, 7, 33, 40, 65, 100, 128, 129, 200, 256, 300, 515, 1024, 2100})
      for (const auto& tensors : {factors.one, factors.two}) {
        const auto best = sums(tensors, 0, 3, k, {});
        for (const std::int64_t targets : {HWY_AVX3, HWY_AVX2, HWY_SSE4 | HWY_SCALAR})
          if (all & targets) {
            use(targets);
            EXPECT_EQ(sums(tensors, 0, 3, k, {}), best) << to_string(dtype) << ", k " << k << ", "
                                                        << tensors.size() << " tensors, targets " << targets;
          }
        use(0);
      }
  }
}

}  // namespace
}  // namespace kolmo::check
