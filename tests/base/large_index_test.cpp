// Index arithmetic beyond 2^31. No test has the memory for it, so it is tested on functions of numbers alone,
// and on null pointers.
#include <gtest/gtest.h>

#include <vector>

#include "kolmo/base/quotient.hpp"
#include "kolmo/base/random.hpp"
#include "kolmo/check/reference.hpp"
#include "kolmo/runtime/cpu/row_parts.hpp"
#include "kolmo/skeleton/batch_walk.hpp"

namespace kolmo {
namespace {

using I = std::int64_t;

Tensor shaped(std::initializer_list<I> extents) { return tensor(nullptr, DType::f64, Extents(extents)); }

/// Returns numbers around 2^31, 2^32 and higher powers of 2, and small ones.
std::vector<I> numbers() {
  std::vector<I> all{1, 2, 3, 7, 1000};
  for (const int power : {16, 31, 32, 33, 40, 62})
    for (const I near : {-1, 0, 1}) all.push_back((I(1) << power) + near);
  return all;
}

TEST(LargeIndex, QuotientsOfAnySize) {
  EXPECT_EQ(quotient(0, 5), 0);
  for (const I a : numbers())
    for (const I b : numbers()) EXPECT_EQ(quotient(a, b), a / b) << a << " / " << b;
}

/// Computes by wide arithmetic where `t`, which broadcasts to `out`, has element i of `out`.
I offset_in(const Tensor& t, const Tensor& out, I i) {
  __int128 at = 0;
  for (int d = out.rank - 1; d >= 0; --d) {
    const int own = d - (out.rank - t.rank);
    if (own >= 0 && t.dim(own) > 1) at += __int128(i % out.dim(d)) * t.stride[std::size_t(own)];
    i /= out.dim(d);
  }
  return I(at);
}

struct Shapes {
  const char* name;
  std::vector<I> out, a, b;
};
void PrintTo(const Shapes& s, std::ostream* os) { *os << s.name; }
class LargeWalk : public testing::TestWithParam<Shapes> {};
INSTANTIATE_TEST_SUITE_P(Shapes, LargeWalk,
                         testing::Values(Shapes{"plain", {I(1) << 34}, {I(1) << 34}, {I(1) << 34}},
                                         Shapes{"rows", {70001, 70003}, {70001, 70003}, {70003}},
                                         Shapes{"columns", {70001, 70003}, {70001, 1}, {1, 70003}},
                                         Shapes{
                                             "long rows", {3, (I(1) << 32) + 1}, {3, 1}, {(I(1) << 32) + 1}},
                                         Shapes{"middle", {2000, 1500, 1999}, {2000, 1, 1999}, {1500, 1}},
                                         Shapes{"scalar", {I(1) << 20, I(1) << 20}, {}, {1, 1}}),
                         [](const auto& i) {
                           std::string name = i.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

TEST_P(LargeWalk, FindsEveryElement) {
  const auto make = [](const std::vector<I>& shape) { return tensor(nullptr, DType::f64, shape); };
  const Tensor out = make(GetParam().out), a = make(GetParam().a), b = make(GetParam().b);
  const Tensor* const in[] = {&a, &b};
  const Walk<2> walk = walk_of<2>(out, in);
  const I n = out.size();
  ASSERT_GT(n, I(1) << 31);
  for (const I i : {I(0), I(1), (I(1) << 31) - 1, I(1) << 31, (I(1) << 31) + 12345, n / 3, n - 2, n - 1}) {
    I place[2];
    walk.at(i, place);
    EXPECT_EQ(place[0], offset_in(a, out, i)) << i;
    EXPECT_EQ(place[1], offset_in(b, out, i)) << i;
  }
}

TEST(LargeIndex, MatricesOfABatch) {
  const Tensor out = shaped({50000, 3, 300, 500}), a = shaped({50000, 1, 300, 400}),
               b = shaped({3, 400, 500});
  const Tensor* const in[] = {&a, &b};
  const Walk<2> walk = batch_walk<2>(out, 2, in, 2);
  for (const I item :
       {I(0), I(1), I(17900), I(100001), I(149999)}) {  // a has 2^31 elements before item 53688
    I place[2];
    walk.at(item, place);
    EXPECT_EQ(place[0], item / 3 * 300 * 400) << item;
    EXPECT_EQ(place[1], item % 3 * 400 * 500) << item;
  }
}

constexpr I offsets[] = {
    0, 1, (I(1) << 31) - 3, I(1) << 31, (I(1) << 32) - 1, (I(1) << 33) + 5, (I(1) << 60) + 7};

template <class T>
T uniform_by_reference(std::uint64_t seed, I e) {
  if constexpr (sizeof(T) == 8) return T(check::philox64(seed, std::uint64_t(e)) >> 11) * 0x1p-53;
  return T(check::philox32(seed, std::uint64_t(e)) >> 8) * T(0x1p-24);
}

template <class T>
void expect_sequence() {
  using Sequence = RandomSequence<T, UniformValue<T>>;
  constexpr I per_block = Sequence::per_block;
  constexpr std::uint64_t seed = 7;
  for (const I offset : offsets)
    for (const I n : {I(1), I(9), (I(1) << 31) + 1, (I(1) << 35) + 3}) {
      const Sequence s{Philox(seed), {0, 1}, offset, n, nullptr};
      EXPECT_EQ(s.blocks(), I((__int128(offset) + n - 1) / per_block - offset / per_block + 1))
          << offset << ' ' << n;
      for (const I i : {I(0), n / 2, n - 1})
        EXPECT_EQ(s.element(i), uniform_by_reference<T>(seed, offset + i)) << offset << " + " << i;
    }
  for (const I offset : offsets) {
    std::vector<T> values(9, -1);
    const Sequence s{Philox(seed), {0, 1}, offset, 9, values.data()};
    for (I b = 0; b < s.blocks(); ++b) s.write(b);
    for (I i = 0; i < 9; ++i) EXPECT_EQ(values[std::size_t(i)], s.element(i)) << offset << " + " << i;
  }
}

TEST(LargeIndex, RandomSequences) {
  expect_sequence<float>();
  expect_sequence<double>();
}

TEST(LargeIndex, PartsOfRows) {
  EXPECT_EQ(row_parts((I(1) << 40) + 1), (I(1) << 40) / row_part + 1);
  Arena counting;
  take_row_parts<double>(counting, I(1) << 20, I(1) << 31);
  EXPECT_EQ(counting.used(),
            (std::size_t(1) << 20) * ((std::size_t(1) << 31) / row_part + 1) * sizeof(double));

  constexpr I k = (I(1) << 31) + 5;
  Arena sized;
  take_row_parts<I>(sized, 1, k);
  std::vector<I> workspace(sized.used() / sizeof(I));
  Arena arena(workspace.data());
  I written = 0, last = 0;
  for_row_parts(
      1, 1, k, take_row_parts<I>(arena, 1, k), [](I, I, I n) { return n; }, [](I a, I b) { return a + b; },
      [&](I, I begin, I n, I, I whole) {
        EXPECT_EQ(whole, k);
        EXPECT_EQ(begin, last);
        written += n, last = begin + n;
      });
  EXPECT_EQ(written, k);
}

}  // namespace
}  // namespace kolmo
