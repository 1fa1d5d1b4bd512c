// The two ways in which the CPU computes estimates, compared with each other and with the definition, on
// difficult data.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kolmo/base/arena.hpp"
#include "kolmo/knn/cpu_engines.hpp"
#include "kolmo/knn/ksg_oracle.hpp"
#include "kolmo/knn/ksg_problem.hpp"
#include "kolmo/knn/sorted.hpp"

namespace kolmo::knn {
namespace {

enum class Data {
  normal,
  discrete,
  jittered,
  heavy_tails,
  wide_x,
  wide_y,
  constant_z,
  duplicates,
  tiny_range,
  subnormal
};

struct Setting {
  std::int64_t n, b, k, theiler, surrogates;
  int dx, dy, dz;
  Data data;
  SurrogateType type = SurrogateType::permute;
};

template <class T>
class RandomData {
 public:
  explicit RandomData(const Setting& s)
      : s_(s), x_(fill(s.n * s.b * s.dx)), y_(fill(s.n * s.dy)), z_(fill(s.n * s.dz)) {
    if (s.data == Data::constant_z) std::fill(z_.begin(), z_.end(), T(3));
    for (T& x : x_) x *= s.data == Data::wide_x ? T(1e6) : T(1);
    for (T& y : y_) y *= s.data == Data::wide_y ? T(1e6) : T(1);
    if (s.data == Data::duplicates)
      for (std::int64_t i = s.n / 2; i < s.n; ++i) {
        copy_row(x_, i, s.dx), copy_row(y_, i, s.dy), copy_row(z_, i, s.dz);
      }
  }

  std::vector<double> values(bool in_lanes, int threads) {
    std::vector<double> value(std::size_t(s_.b * (1 + s_.surrogates)));
    KsgProblem<T> p;
    p.n = s_.n, p.b = s_.b, p.x_step = s_.n * s_.dx, p.dx = s_.dx, p.dy = s_.dy, p.dz = s_.dz;
    p.x = x_.data(), p.y = y_.data(), p.z = s_.dz ? z_.data() : nullptr;
    p.k = s_.k, p.theiler = s_.theiler, p.surrogates = s_.surrogates;
    p.surrogate_options = {.type = s_.type, .block_length = 0, .min_shift = 1, .seed = 11};
    p.value = value.data();
    Arena size;
    if (in_lanes)
      lanes_layout(p, size, threads);
    else
      trees_layout(p, size, threads);
    std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(128, size.used() + 128), std::free);
    if (in_lanes)
      lanes(p, Arena(memory.get()), threads);
    else
      trees(p, false, Arena(memory.get()), threads);
    return value;
  }

  double oracle() const {  // for the observed data of the first alternative
    const auto rows = [&](const std::vector<T>& v, int d) {
      check::Rows<T> all(static_cast<std::size_t>(s_.n));
      for (std::int64_t i = 0; i < s_.n * d; ++i) all[std::size_t(i / d)].push_back(v[std::size_t(i)]);
      return all;
    };
    const check::KsgSettings settings{.k = s_.k, .theiler = s_.theiler};
    return double(
        check::ksg_estimates<T>(rows(x_, s_.dx), rows(y_, s_.dy), rows(z_, s_.dz), settings).values[0]);
  }

 private:
  std::vector<T> fill(std::int64_t count) {
    std::vector<T> v(static_cast<std::size_t>(count));
    std::normal_distribution<double> normal;
    for (T& value : v) {
      const double g = normal(random_);
      value = T(s_.data == Data::discrete      ? std::round(2 * g)
                : s_.data == Data::jittered    ? std::round(2 * g) + 1e-8 * normal(random_)
                : s_.data == Data::heavy_tails ? g / normal(random_)
                : s_.data == Data::tiny_range  ? 1e6 + 1e-9 * g
                : s_.data == Data::subnormal   ? 50 * g * double(std::numeric_limits<T>::denorm_min())
                                               : g);
    }
    return v;
  }
  void copy_row(std::vector<T>& v, std::int64_t i, int d) {
    for (int c = 0; c < d; ++c) v[std::size_t(i * d + c)] = v[std::size_t((i - s_.n / 2) * d + c)];
  }
  std::mt19937_64 random_{5};
  Setting s_;
  std::vector<T> x_, y_, z_;
};

const Setting settings[] = {
    {300, 1, 4, 0, 20, 1, 1, 1, Data::normal},
    {257, 3, 4, 0, 12, 1, 1, 1, Data::normal, SurrogateType::block},
    {300, 1, 3, 5, 10, 1, 1, 1, Data::normal, SurrogateType::circular},
    {300, 1, 5, 0, 40, 1, 1, 0, Data::normal},
    {200, 2, 4, 7, 9, 1, 2, 0, Data::normal},
    {200, 1, 7, 0, 5, 2, 1, 2, Data::normal},
    {200, 1, 4, 3, 8, 3, 1, 3, Data::normal},
    {150, 1, 64, 0, 4, 1, 1, 1, Data::normal},
    {150, 1, 20, 1, 4, 2, 2, 2, Data::normal},
    {400, 1, 4, 0, 33, 1, 1, 1, Data::discrete},
    {400, 1, 4, 2, 7, 2, 1, 2, Data::discrete},
    {400, 1, 4, 0, 7, 1, 1, 0, Data::discrete},
    {400, 1, 4, 0, 33, 1, 1, 1, Data::jittered},
    {1500, 2, 4, 0, 40, 1, 1, 1, Data::normal},
    {900, 2, 4, 0, 20, 1, 1, 1, Data::heavy_tails},
    {300, 2, 4, 3, 20, 1, 2, 1, Data::heavy_tails},
    {300, 1, 4, 0, 20, 1, 1, 0, Data::heavy_tails},
    {300, 1, 4, 0, 20, 1, 1, 1, Data::wide_x},
    {300, 1, 4, 0, 20, 1, 1, 1, Data::wide_y},
    {200, 1, 4, 0, 9, 1, 1, 1, Data::constant_z},
    {200, 1, 4, 0, 9, 1, 1, 1, Data::duplicates},
    {200, 1, 2, 3, 9, 2, 2, 1, Data::duplicates},
    {200, 1, 4, 0, 9, 1, 1, 1, Data::tiny_range},
    {200, 1, 4, 0, 9, 1, 1, 1, Data::subnormal},
    {300, 1, 4, 2, 20, 1, 1, 0, Data::subnormal},
    {6, 4, 4, 0, 3, 1, 1, 1, Data::normal},
    {1200, 1, 4, 0, 1, 2, 1, 2, Data::normal},  // trees of three levels
    {1025, 1, 4, 2, 1, 2, 2, 2, Data::normal},
    {600, 1, 4, 0, 1, 3, 1, 3, Data::discrete},
    {600, 1, 4, 0, 1, 1, 7, 0, Data::heavy_tails},
    {600, 1, 4, 0, 1, 4, 4, 3, Data::normal},
    {210, 1, 64, 70, 1, 1, 3, 0, Data::normal},
    // Enough estimates for lists in z.
    {200, 2, 4, 0, 60, 1, 1, 2, Data::normal},
    {129, 1, 4, 3, 99, 1, 1, 3, Data::normal, SurrogateType::circular},
    {100, 3, 7, 0, 40, 1, 2, 2, Data::normal, SurrogateType::block},
    {100, 1, 64, 0, 99, 1, 1, 2, Data::normal},
    {120, 1, 4, 0, 99, 1, 1, 2, Data::discrete},
    {120, 1, 4, 2, 99, 1, 1, 2, Data::jittered},
    {150, 1, 4, 0, 99, 1, 1, 3, Data::heavy_tails},
    {120, 1, 4, 0, 99, 1, 1, 2, Data::wide_x},
    {120, 1, 4, 0, 99, 1, 1, 2, Data::wide_y},
    {120, 1, 4, 0, 99, 1, 1, 2, Data::constant_z},
    {120, 1, 4, 0, 99, 1, 1, 2, Data::duplicates},
    {120, 1, 4, 0, 99, 1, 1, 2, Data::tiny_range},
    {120, 1, 4, 0, 99, 1, 1, 2, Data::subnormal},
    {7, 1, 4, 0, 99, 1, 1, 2, Data::normal},
};

class Engines : public testing::TestWithParam<Setting> {};
INSTANTIATE_TEST_SUITE_P(All, Engines, testing::ValuesIn(settings));

TEST_P(Engines, GiveTheSameBitsOnAnyNumberOfThreads) {
  RandomData<double> run(GetParam());
  const auto trees = run.values(false, 1);
  EXPECT_EQ(trees, run.values(false, 2));
  EXPECT_EQ(trees, run.values(true, 1));
  EXPECT_EQ(trees, run.values(true, 2));
}

TEST_P(Engines, GiveTheSameBitsInSinglePrecision) {
  RandomData<float> run(GetParam());
  EXPECT_EQ(run.values(false, 1), run.values(true, 2));
}

TEST_P(Engines, GiveTheSameBitsWithAnyInstructionSet) {
  RandomData<double> run(GetParam());
  const auto best = run.values(true, 1);
  const std::int64_t all = hwy::SupportedTargets();
  for (const std::int64_t targets : {HWY_AVX3, HWY_AVX2, HWY_SSE4 | HWY_SCALAR}) {
    if (!(all & targets)) continue;
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    EXPECT_EQ(best, run.values(true, 1)) << "targets " << targets;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST_P(Engines, FollowTheDefinition) {
  RandomData<double> run(GetParam());
  EXPECT_NEAR(run.values(true, 1)[0], run.oracle(), 1e-13);
}

TEST(Engines, CellsAreWithinTheirArrayForEveryNumber) {
  const double most = std::numeric_limits<double>::max(), infinite = std::numeric_limits<double>::infinity();
  const double least = std::numeric_limits<double>::denorm_min();
  for (const double range : {0.0, least, 1e-310, 1e-300, 1.0, 1e300, most})
    for (const double low : {-most / 2, -1.0, 0.0, 1e6, most / 2}) {
      const std::int64_t n = 4;
      std::vector<double> value{low, low + range / 3, low + range / 2, low + range};
      value.resize(n + Cells<double>::padding, infinite);
      std::vector<std::uint32_t> start(std::size_t(Cells<double>::count(n)));
      Cells<double> cells{value.data(), start.data(), 0, 0, 0};
      cells.build(n);
      for (const double v : {-infinite, -most, low, low + range, most, infinite}) {
        EXPECT_GE(cells.cell(v), 0) << range << ' ' << low << ' ' << v;
        EXPECT_LE(cells.cell(v), cells.last) << range << ' ' << low << ' ' << v;
      }
    }
}

TEST(Engines, SearchBeyondListsAndSlices) {  // uses more points than one slice of lists, and 32-bit ranks
  const Setting s{70000, 1, 4, 0, 3, 1, 1, 1, Data::normal};
  RandomData<double> run(s);
  EXPECT_EQ(run.values(false, 2), run.values(true, 2));
}

TEST(Engines, AreChosenByTheRuleThatIsStated) {
  const auto listed = [](std::int64_t n, int dx, int dz, std::int64_t estimates) {
    KsgProblem<double> p;
    p.n = n, p.b = 1, p.dx = dx, p.dy = 1, p.dz = dz, p.surrogates = estimates - 1;
    return lanes_fit(p);
  };
  constexpr std::int64_t many = 1000;
  constexpr std::int64_t most[] = {50000, 200000, 35000, 20000, 20000};
  for (int dz = 0; dz < 5; ++dz) {
    EXPECT_TRUE(listed(most[dz], 1, dz, many));
    EXPECT_FALSE(listed(most[dz] + 1, 1, dz, many));
    EXPECT_EQ(listed(1000, 2, dz, many), dz > 0);
    EXPECT_NE(cpu_engines.find(std::to_string(most[dz])), std::string_view::npos);
  }
  EXPECT_TRUE(listed(10000, 1, 1, 8));  // 4 + rows / 2500
  EXPECT_FALSE(listed(10000, 1, 1, 7));
  EXPECT_TRUE(listed(10000, 1, 0, 35));  // 0.35 sqrt(rows)
  EXPECT_FALSE(listed(10000, 1, 0, 34));
  EXPECT_NE(cpu_engines.find("4 + rows / 2500"), std::string_view::npos);
  EXPECT_NE(cpu_engines.find("0.35 sqrt(rows)"), std::string_view::npos);
}

}  // namespace
}  // namespace kolmo::knn
