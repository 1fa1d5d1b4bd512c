#include "kolmo/check/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/check/benchmark.hpp"
#include "kolmo/check/refusals.hpp"
#include "kolmo/op/define.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"

namespace kolmo::check {
namespace {

std::vector<double> drawn(Domain domain, DType dtype, std::uint64_t seed = 1, std::uint64_t stream = 0) {
  const Array h(dtype, std::array{40, 50});
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

TEST(Draw, KnowsItsDomainsInEveryDtypeTheyMakeSenseFor) {
  for (const DType t :
       {DType::i64, DType::i32, DType::i16, DType::i8, DType::u64, DType::u32, DType::u16, DType::u8}) {
    const Array h(t, std::vector<int>{1000});
    draw(h.tensor, Domain::index, 1, 0, 5);
    std::array<int, 5> seen{};
    for (std::int64_t i = 0; i < 1000; ++i) {
      const auto v = std::int64_t(get(h.tensor, i));
      ASSERT_TRUE(v >= 0 && v < 5) << to_string(t) << ' ' << v;
      ++seen[std::size_t(v)];
    }
    for (const int n : seen) EXPECT_GT(n, 0) << "every index is there";
    for (const double v : drawn(Domain::positive, t)) EXPECT_GE(v, 1);
  }
  for (const DType t : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::u8}) {
    const auto rows = drawn(Domain::sorted, t);
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_TRUE(i % 50 == 0 || rows[i - 1] <= rows[i]);
    EXPECT_LT(rows.front(), rows[49]);
  }
  for (const DType t : {DType::f32, DType::bf16, DType::i32, DType::u8, DType::boolean}) {
    int ones = 0;
    for (const double v : drawn(Domain::mask, t)) {
      EXPECT_TRUE(v == 0 || v == 1);
      ones += v == 1;
    }
    EXPECT_TRUE(ones > 800 && ones < 1200) << "of 2000, " << ones;
  }
  const Array empty(DType::i32, std::vector<int>{0});
  EXPECT_NO_THROW(draw(empty.tensor, Domain::index, 1, 0, 0));
  const Array one(DType::i32, std::vector<int>{1});
  EXPECT_THROW(draw(one.tensor, Domain::index, 1, 0, 0), InvalidArgument);
  EXPECT_THROW(drawn(Domain::index, DType::f32), InvalidArgument);
}

/// Whether Cholesky's algorithm succeeds, that is, takes no root of a negative number.
bool positive_definite(const Tensor& t, std::int64_t at) {
  const std::int64_t n = t.dim(-1);
  std::vector<std::complex<double>> a;
  for (std::int64_t i = 0; i < n * n; ++i)
    a.push_back(complexes.has(t.dtype) ? std::complex<double>(get_complex(t, at + i))
                                       : double(get(t, at + i)));
  const auto entry = [&](std::int64_t i, std::int64_t j) -> std::complex<double>& {
    return a[std::size_t(i * n + j)];
  };
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t i = 0; i < k; ++i)
      if (entry(i, k) != std::conj(entry(k, i))) return false;
    if (entry(k, k).imag() != 0) return false;
  }
  for (std::int64_t k = 0; k < n; ++k) {
    if (!(entry(k, k).real() > 0)) return false;
    for (std::int64_t i = k + 1; i < n; ++i)
      for (std::int64_t j = k + 1; j <= i; ++j)
        entry(i, j) -= entry(i, k) * std::conj(entry(j, k)) / entry(k, k);
  }
  return true;
}

TEST(Draw, SymmetricPositiveDefiniteMatricesAre) {
  for (const DType t : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c128, DType::c64}) {
    const Array h(t, std::vector<int>{3, 5, 5});
    draw(h.tensor, Domain::symmetric_positive_definite, 1, 0);
    for (std::int64_t m = 0; m < 3; ++m)
      EXPECT_TRUE(positive_definite(h.tensor, 25 * m)) << to_string(t) << m;
    EXPECT_NE(get(parts(h.tensor), 2), 0) << "it is more than the identity";
  }
  EXPECT_THROW(drawn(Domain::symmetric_positive_definite, DType::f64), InvalidArgument) << "40 x 50";
}

TEST(Draw, ComplexNumbersHaveTwoNormalParts) {
  const Array h(DType::c64, std::vector<int>{1000});
  draw(h.tensor, Domain::real, 1, 0);
  long double re = 0, im = 0, both = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const auto z = get_complex(h.tensor, i);
    re += z.real() * z.real(), im += z.imag() * z.imag(), both += z.real() * z.imag();
  }
  EXPECT_NEAR(double(re), 1000, 250);
  EXPECT_NEAR(double(im), 1000, 250);
  EXPECT_NEAR(double(both), 0, 160);
  EXPECT_THROW(draw(h.tensor, Domain::sorted, 1, 0), InvalidArgument);
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
  const auto cases = vector_add->cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].benchmark_only) continue;
    Problem p(vector_add, cases[i], i);
    const auto& a = *static_cast<const BinaryArgs*>(p.args());
    EXPECT_EQ(a.x.size(), cases[i].sizes[0].size);
    EXPECT_EQ(a.z.dtype, cases[i].dtype);
    EXPECT_EQ(p.sizes(), (std::vector<std::string_view>{"..."}));
    p.make_empty("...");
    EXPECT_EQ(a.x.size() + a.y.size() + a.z.size(), 0);
  }
}

/// Selects rows of x: an operator with indices, a mask and a case with its own random numbers.
struct TakeArgs {
  In x, index, mask;
  Out y;
  double scale = 1;
  static constexpr auto fields() {
    using A = TakeArgs;
    return std::array{
        field<&A::x>("x", "n", reals, "values"),
        field<&A::index>("index", "m", DTypes::of(DType::i64, DType::u8).as("I"), "places in x").indexes("n"),
        field<&A::mask>("mask", "m", DTypes::of(DType::boolean), "which count", Domain::mask),
        field<&A::y>("y", "m", reals, "scale x[index]"),
        option<&A::scale>("scale", 0.0, 1.0, "scale"),
    };
  }
};
constexpr Case<TakeArgs> take_cases[] = {
    {.name = "n=7", .sizes = {{"n", 7}, {"m", 40}}, .dtypes = {{"I", DType::u8}}},
    {.name = "own numbers",
     .sizes = {{"n", 7}, {"m", 4}},
     .setup = [](TakeArgs& a) { a.scale = 0.5; },
     .draw =
         [](TakeArgs& a, CaseRandom& random) {
           a.scale *= random.uniform();
           for (std::int64_t i = 0; i < 7; ++i) put(a.x, i, random.normal());
           put(a.index, 0, double(random.below(7)));
         }},
};
constexpr Definition<TakeArgs> take{{.name = "take"}, {.cases = take_cases}};

TEST(Problem, IndicesAreBelowTheSizeThatTheyName) {
  const Problem p(take, take.cases()[0], 0), q(take, take.cases()[1], 1);
  EXPECT_EQ(p.field(1).dtype, DType::u8);
  EXPECT_EQ(q.field(1).dtype, DType::i64) << "the first accepted";
  long double largest = 0;
  for (std::int64_t i = 0; i < 40; ++i) largest = std::max(largest, get(p.field(1), i));
  EXPECT_EQ(largest, 6);
  EXPECT_FALSE(can_be_empty(p, "n")) << "indices point into it";
  EXPECT_TRUE(can_be_empty(p, "m"));
}

TEST(Problem, ACaseMayDrawItsOwnNumbers) {
  const auto made = [](std::uint64_t seed) { return Problem(take, take.cases()[1], 1, seed); };
  const auto scale = [](const Problem& p) { return static_cast<const TakeArgs*>(p.args())->scale; };
  const Problem one = made(1), again = made(1), other = made(2);
  EXPECT_EQ(scale(one), scale(again));
  EXPECT_NE(scale(one), scale(other)) << "other numbers for the second problem";
  EXPECT_LT(scale(one), 0.5) << "drawn after the setup";
  EXPECT_EQ(get(one.field(0), 3), get(again.field(0), 3));
  EXPECT_NE(get(one.field(0), 3), get(other.field(0), 3));
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
