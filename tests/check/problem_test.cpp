#include "kolmo/check/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/check/benchmark.hpp"
#include "kolmo/check/compare.hpp"
#include "kolmo/ops/elementwise/vector_add/vector_add.hpp"

namespace kolmo::check {
namespace {

std::vector<double> drawn(Domain domain, DType dtype, std::uint64_t seed = 1, std::uint64_t stream = 0) {
  const HostTensor h(dtype, tensor(nullptr, dtype, std::vector<int>{40, 50}));
  draw(h.tensor, domain, seed, stream);
  std::vector<double> values;
  for (std::int64_t i = 0; i < h.tensor.size(); ++i) values.push_back(double(get(h.tensor, i)));
  return values;
}

TEST(Draw, StaysInItsDomainInEveryDtype) {
  for (const DType t : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    for (const double v : drawn(Domain::real, t)) EXPECT_TRUE(std::isfinite(v));
    for (const double v : drawn(Domain::positive, t)) EXPECT_GT(v, 0);
    for (const double v : drawn(Domain::unit, t)) EXPECT_TRUE(v > 0 && v < 1) << v;
    for (const double v : drawn(Domain::count, t)) EXPECT_TRUE(v >= 0 && v < 8 && v == std::floor(v));
    const auto rows = drawn(Domain::probability, t);
    for (std::size_t row = 0; row < 40; ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < 50; ++i) sum += rows[row * 50 + i];
      EXPECT_NEAR(sum, 1, t == DType::f64 ? 1e-14 : t == DType::f32 ? 1e-6 : 0.05);
    }
  }
  for (const DType t : {DType::i64, DType::i32, DType::u8})
    for (const double v : drawn(Domain::real, t)) EXPECT_TRUE(v >= 0 && v < 8);
}

TEST(Draw, IsTheSameForTheSameSeedOnly) {
  EXPECT_EQ(drawn(Domain::real, DType::f64), drawn(Domain::real, DType::f64));
  EXPECT_NE(drawn(Domain::real, DType::f64), drawn(Domain::real, DType::f64, 2));
  EXPECT_NE(drawn(Domain::real, DType::f64), drawn(Domain::real, DType::f64, 1, 1));
}

TEST(Draw, NormalsAreNormal) {
  double sum = 0, squares = 0;
  const auto values = drawn(Domain::real, DType::f64);
  for (const double v : values) sum += v, squares += v * v;
  const double n = double(values.size());
  EXPECT_LT(std::abs(sum / n), 5 / std::sqrt(n));
  EXPECT_LT(std::abs(squares / n - 1), 5 * std::sqrt(2 / n));
}

TEST(Problem, HasTheSizesOfItsCase) {
  const auto cases = vector_add.cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].benchmark_only) continue;
    Problem p(vector_add, cases[i], i);
    const auto& a = *static_cast<const VectorAddArgs*>(p.args());
    EXPECT_EQ(a.x.size(), cases[i].sizes[0].size);
    EXPECT_EQ(a.z.dtype, cases[i].dtype);
    EXPECT_EQ(p.sizes(), (std::vector<std::string_view>{"..."}));
    p.make_empty("...");
    EXPECT_EQ(a.x.size() + a.y.size() + a.z.size(), 0);
  }
}

TEST(Compare, CountsTheWrongElements) {
  HostTensors got(3), want(3);
  const Tensor shape = tensor(nullptr, DType::f64, std::vector<int>{2, 2});
  got[2] = HostTensor(DType::f64, shape), want[2] = HostTensor(DType::f64, shape);
  for (int i = 0; i < 4; ++i) put(got[2].tensor, i, i), put(want[2].tensor, i, i);
  EXPECT_EQ(compare(vector_add, got, want, 0).message, "");
  EXPECT_EQ(bit_difference(vector_add, got, want), "");
  put(got[2].tensor, 1, 1.5), put(got[2].tensor, 3, 6);
  const Comparison c = compare(vector_add, got, want, 0.1);
  EXPECT_EQ(c.message, "z(0, 1) is 1.5, expected 1 within 0.10000000000000001; so are 1 more of 4 elements");
  EXPECT_EQ(c.max_error, 1);
  EXPECT_EQ(bit_difference(vector_add, got, want), "z(0, 1) is 1.5 and was 1");
}

TEST(Benchmark, KeepsEverySample) {
  Stream stream(Device{}, 1);
  BenchmarkOptions options;
  options.samples = 5, options.seconds_per_sample = 1e-4;
  const Benchmark b = benchmark_case(entry_of(vector_add), 1, stream, -1, options);
  EXPECT_EQ(b.case_name, "n=1000 f64");
  EXPECT_EQ(b.samples.size(), 5u);
  EXPECT_GT(b.calls_per_sample, 1);
  EXPECT_LE(b.lower_quartile, b.median);
  EXPECT_LE(b.median, b.upper_quartile);
  EXPECT_EQ(b.cost.bytes_read + b.cost.bytes_written, 24000);
  EXPECT_NEAR(b.bytes_per_second * b.median, 24000, 1e-6);
}

TEST(Benchmark, MeasuresWhatTheCpuCanDo) {
  Stream stream(Device{}, 1);
  const DeviceInfo peak = measured_peaks(stream);
  EXPECT_GT(peak.bytes_per_second, 1e8);
  EXPECT_GT(peak.flops_f64, 1e8);
  EXPECT_GT(peak.flops_f32, peak.flops_f64 / 2);
  EXPECT_EQ(measured_peaks(stream).flops_f64, peak.flops_f64) << "measured once";
}

}  // namespace
}  // namespace kolmo::check
