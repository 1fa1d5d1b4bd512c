// The tree of nearest-neighbour searches on the CPU, with every instruction set: what its leaves and boxes hold.
#include "kolmo/knn/tree.hpp"

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace kolmo::knn {
namespace {

enum class Data { normal, discrete, constant, ascending, two_values, outliers };

template <class T>
std::vector<T> points(Data data, std::int64_t n, int d) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<T> all;
  for (std::int64_t i = 0; i < n * d; ++i) {
    const double g = normal(random);
    all.push_back(T(data == Data::normal       ? g
                    : data == Data::discrete   ? double(std::int64_t(2 * g))
                    : data == Data::constant   ? 3
                    : data == Data::ascending  ? double(i)
                    : data == Data::two_values ? double(g < -1.5)
                    : i % 97 == 0              ? 1e30 * g
                                               : 1e-3 * g));
  }
  return all;
}

template <class T>
struct Built {
  std::vector<std::byte> memory;
  Tree<T> tree;

  Built(const Columns<T>& columns, std::int64_t n) {
    Arena counted;
    tree.layout(n, columns.count, counted);
    memory.resize(counted.used());
    Arena arena(memory.data());
    tree.layout(n, columns.count, arena);
    tree.build(columns);
  }
};

/// Each row is in one slot, leaves have 16 points but the last, and boxes are the least that hold the points of their leaves.
template <class T>
void check_tree(Data data, std::int64_t n, int d) {
  SCOPED_TRACE(testing::Message() << "data " << int(data) << ", " << n << " points of " << d << " columns");
  using TreeT = Tree<T>;
  const std::vector<T> all = points<T>(data, n, d);
  Columns<T> columns;
  columns.add(all.data(), d);
  const Built<T> built(columns, n);
  const TreeT& tree = built.tree;
  std::vector<int> seen(std::size_t(n), 0);
  for (std::int64_t l = 0; l < tree.leaves; ++l)
    for (int i = 0; i < TreeT::leaf; ++i) {
      const std::uint32_t row = tree.row[l * TreeT::leaf + i];
      ASSERT_EQ(row == TreeT::no_row, i >= tree.size(l, l + 1));
      if (row != TreeT::no_row) ++seen[row];
      for (int c = 0; c < d; ++c)
        ASSERT_EQ(tree.leaf_points(l)[c * TreeT::leaf + i],
                  row == TreeT::no_row ? std::numeric_limits<T>::infinity() : columns(c, row));
    }
  ASSERT_EQ(std::count(seen.begin(), seen.end(), 1), n);
  for (int level = 0; level < tree.levels; ++level)
    for (std::int64_t child = 0; child < tree.children(level); ++child)
      for (int c = 0; c < d; ++c) {
        const std::int64_t first = child << 3 * level, end = std::min(tree.leaves, (child + 1) << 3 * level);
        T low = std::numeric_limits<T>::infinity(), high = -low;
        for (std::int64_t l = first; l < end; ++l)
          for (std::int64_t i = 0; i < tree.size(l, l + 1); ++i) {
            const T v = tree.leaf_points(l)[c * TreeT::leaf + i];
            low = std::min(low, v), high = std::max(high, v);
          }
        const T* box = tree.box[level] + child / TreeT::fan * TreeT::fan * 2 * d + child % TreeT::fan;
        ASSERT_EQ(box[2 * c * TreeT::fan], low);
        ASSERT_EQ(box[(2 * c + 1) * TreeT::fan], high);
      }
}

/// Sums over the leaves the widths of their boxes, in units of all points' box. A tree that splits at medians of 4,096 uniform points in the
/// plane has 256 leaves of width 1/16; this allows a half more.
TEST(Tree, SplitsAtMedians) {
  const std::int64_t n = 4096;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> all;
  for (std::int64_t i = 0; i < 2 * n; ++i) all.push_back(uniform(random));
  Columns<double> columns;
  columns.add(all.data(), 2);
  const Built<double> built(columns, n);
  const Tree<double>& tree = built.tree;
  double widths = 0;
  for (std::int64_t l = 0; l < tree.leaves; ++l)
    for (int c = 0; c < 2; ++c) {
      const auto [low, high] =
          std::minmax_element(tree.leaf_points(l) + c * 16, tree.leaf_points(l) + (c + 1) * 16);
      widths += *high - *low;
    }
  EXPECT_LT(widths / double(2 * tree.leaves), 1.5 / 16);
}

TEST(Tree, HoldsEveryPointOnceWithAnyInstructionSet) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (const std::int64_t targets : {HWY_AVX3, HWY_AVX2, HWY_SSE4 | HWY_SCALAR}) {
    if (!(supported & targets)) continue;
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (const Data data :
         {Data::normal, Data::discrete, Data::constant, Data::ascending, Data::two_values, Data::outliers})
      for (const std::int64_t n : {1, 2, 16, 17, 33, 64, 65, 81, 129, 500, 1027, 5000})
        for (const int d : {1, 2, 5}) {
          check_tree<double>(data, n, d);
          check_tree<float>(data, n, d);
        }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace
}  // namespace kolmo::knn
