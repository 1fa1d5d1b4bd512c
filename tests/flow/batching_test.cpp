#include "kolmo/flow/estimate/batching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "kolmo/knn/listed.hpp"

namespace kolmo {
namespace {

/// A model of a GPU with measured costs: an estimate costs 0.65 ns per row with neighbour lists, or 2.4 ns if
/// a call has too few estimates of a target or too many rows for lists. The first call also loads code.
struct ModelledGpu {
  std::int64_t rows, estimates, fewest = knn::fewest_listed_estimates, most = knn::most_listed_rows;
  double loading = 0, slow_work = 0, longest = 0, total = 0;
  std::int64_t calls = 0;

  double seconds(const BatchSize& b) {
    const double work = double(b.targets * b.links * estimates * rows);
    const bool slow = b.links * estimates < fewest || b.targets * rows > most;
    const double taken = work * (slow ? 2.4e-9 : 0.65e-9) + 3e-4 + (calls++ ? 0 : loading);
    slow_work += slow ? work : 0;
    if (calls > 1) longest = std::max(longest, taken);
    total += taken;
    return taken;
  }
};

/// Estimates all links between `variables`, with two batches under way at a time as in infer_network.
ModelledGpu infer(ModelledGpu gpu, std::int64_t variables, const BatchLimits& limits) {
  Batching batching(limits, gpu.estimates, gpu.rows, double(gpu.rows) * sizeof(double));
  std::vector<std::int64_t> left(std::size_t(variables), variables - 1);
  std::deque<BatchSize> queue;
  std::int64_t links = 0;
  for (std::size_t at = 0; at < left.size() || !queue.empty();) {
    if (at < left.size() && queue.size() < 2) {
      const bool whole = left[at] == variables - 1;
      const BatchSize b = batching.next(left[at], whole ? std::int64_t(left.size() - at) : 1);
      EXPECT_TRUE(b.links >= 1 && b.links <= left[at] && b.targets >= 1);
      EXPECT_TRUE(b.targets == 1 || b.links == left[at]);
      links += b.targets * b.links;
      queue.push_back(b);
      if ((left[at] -= b.links) == 0) at += std::size_t(b.targets);
    } else {
      const BatchSize b = queue.front();
      queue.pop_front();
      batching.took(double(b.targets * b.links * gpu.estimates * gpu.rows), gpu.seconds(b));
    }
  }
  EXPECT_EQ(links, variables * (variables - 1)) << "each link once";
  return gpu;
}

constexpr double loadings[] = {0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1};

// Without limits, the time that the first call needs to load its code decides how long the run takes: runs of
// the model fall into two groups, fast and slow ones.
TEST(Batching, WithoutLimitsTheFirstCallDecides) {
  const BatchLimits none{.seconds = 2};
  double least = 1e9, most = 0;
  for (const double loading : loadings) {
    const auto run = infer({.rows = 1000, .estimates = 201, .loading = loading}, 100, none);
    least = std::min(least, run.total - loading), most = std::max(most, run.total - loading);
  }
  EXPECT_LT(least, 1.5);
  EXPECT_GT(most, 3);
}

TEST(Batching, AlwaysTakesTheFastRow) {
  for (const double loading : loadings)
    for (const std::int64_t rows : {100, 1000, 9999, 40000, 65000})
      for (const std::int64_t estimates : {1, 3, 101, 1001}) {
        const std::int64_t variables = estimates < 8 ? 100 : rows > 10000 ? 20 : 50;
        const auto run = infer({.rows = rows, .estimates = estimates, .loading = loading}, variables,
                               BatchLimits::of(DeviceKind::cuda, rows));
        EXPECT_EQ(run.slow_work, 0) << rows << " rows, " << estimates << " estimates, " << loading << " s";
        EXPECT_LT(run.longest, 1.1) << "progress shows, and little is lost when the process is killed";
      }
}

TEST(Batching, TakesThatLongWhateverTheFirstCallTook) {
  for (const double loading : loadings) {
    const auto run = infer({.rows = 1000, .estimates = 201, .loading = loading}, 100,
                           BatchLimits::of(DeviceKind::cuda, 1000));
    EXPECT_LT(run.total - loading, 1.35);
    EXPECT_LT(run.longest, 0.6);
  }
}

TEST(Batching, StaysWithinMemory) {
  BatchLimits limits = BatchLimits::of(DeviceKind::cuda, 50000);
  limits.most_bytes = 10 * 50000 * 8;
  const Batching batching(limits, 1, 50000, 50000 * 8);
  const BatchSize b = batching.next(99, 100);
  EXPECT_EQ(b.targets, 1);
  EXPECT_LE(b.links, 10);
}

TEST(Batching, KeepsWithinALimitThatIsNotBelowTheLowerBounds) {
  Batching batching(BatchLimits::of(DeviceKind::cuda, 1000), 201, 1000, 8000);
  const double link = 201e3;
  for (int i = 0; i < 10; ++i) batching.took(1e6 * link, 1.0);
  EXPECT_EQ(batching.next(1000, 1).links, 1000);
  batching.limit(250 * link);
  EXPECT_EQ(batching.next(1000, 1).links, 250);
  batching.limit(0);
  EXPECT_EQ(batching.next(1000, 1).links, 84);  // 2^24 points, rounded up; twelve equal parts
}

TEST(Batching, OnACpuFollowsTheMeasuredPace) {
  Batching batching(BatchLimits::of(DeviceKind::cpu, 1000), 201, 1000, 8000);
  for (int i = 0; i < 8; ++i) {
    const BatchSize b = batching.next(99, 1);
    batching.took(double(b.links) * 201e3, double(b.links) * 0.014);
  }
  const BatchSize b = batching.next(99, 1);
  EXPECT_NEAR(double(b.links) * 0.014, 0.5, 0.1);
}

}  // namespace
}  // namespace kolmo
