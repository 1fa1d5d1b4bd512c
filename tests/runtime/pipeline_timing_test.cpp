// Throughput and latency of the pipeline on a virtual clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kolmo/base/philox.hpp"
#include "tests/runtime/pipeline_rig.hpp"

namespace kolmo {
namespace {

double uniform(std::uint64_t seed, std::uint64_t i) {
  const auto r = Philox(seed)(i, 0);
  return uniform53(r.w[0], r.w[1]);
}
/// Returns a number with mean 1 and standard deviation cv, which is never below 0.
double jitter(double cv, std::uint64_t seed, std::uint64_t i) {
  return std::max(0., 1 + cv * std::sqrt(12.) * (uniform(seed, i) - 0.5));
}

/// Makes items whose stages take (h, c, d) virtual seconds on average.
std::vector<Load> loads(std::size_t count, double h, double c, double d, double cv) {
  std::vector<Load> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i].upload = int(std::lround(1000 * h * jitter(cv, 1, i)));
    all[i].compute = c * jitter(cv, 2, i);
    all[i].download = int(std::lround(1000 * d * jitter(cv, 3, i)));
    all[i].index = i;
  }
  return all;
}

std::vector<double> paced(std::size_t count, double interval) {
  std::vector<double> t(count);
  for (std::size_t i = 0; i < count; ++i) t[i] = double(i) * interval;
  return t;
}
std::vector<double> poisson(std::size_t count, double interval, std::uint64_t seed = 7) {
  std::vector<double> t(count);
  double now = 0;
  for (std::size_t i = 0; i < count; ++i) t[i] = now += -interval * std::log1p(-uniform(seed, i));
  return t;
}

/// Computes the latency of every item by the recursion for three servers in line with `slots` places. An item
/// occupies a place from its upload to the end of its download.
std::vector<double> expected_latency(const std::vector<Load>& items, const std::vector<double>& arrivals,
                                     std::size_t slots) {
  std::vector<double> end(items.size()), latency(items.size());
  double uploaded = 0, computed = 0, downloaded = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const double slot_free = i < slots ? 0 : end[i - slots];
    uploaded = std::max({arrivals[i], slot_free, uploaded}) + items[i].upload * 1e-3;
    computed = std::max(uploaded, computed) + items[i].compute;
    downloaded = std::max(computed, downloaded) + items[i].download * 1e-3;
    end[i] = downloaded;
    latency[i] = downloaded - arrivals[i];
  }
  return latency;
}

double quantile(std::vector<double> values, double q) {
  const auto at = values.begin() + std::ptrdiff_t(q * double(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::vector<double> measured_latency(const std::vector<Load>& items, const std::vector<double>& arrivals,
                                     int slots, PipelineReport* report = nullptr) {
  SimulatedDevice& device = SimulatedDevice::make(byte_per_millisecond);
  std::vector<double> latency(items.size());
  PipelineOptions o = manual({.slots = slots, .queue = items.size()});
  LoadPipeline pipeline(
      device.device(), load_stages(&device), [&](auto& r) { latency[r.item.index] = r.latency; }, o);
  pipeline.measure_alone({});
  std::vector<double> shifted = arrivals;
  for (double& t : shifted) t += device.now();
  replay(device, pipeline, shifted, [&](std::size_t i) { pipeline.submit(items[i]); });
  if (report) *report = pipeline.report();
  return latency;
}

struct Scenario {
  double load, cv;
  bool random;
};
class Latency : public testing::TestWithParam<Scenario> {};
INSTANTIATE_TEST_SUITE_P(Loads, Latency,
                         testing::Values(Scenario{.5, 0, false}, Scenario{.9, 0, false},
                                         Scenario{.5, .1, true}, Scenario{.7, .1, true},
                                         Scenario{.8, 0, true}, Scenario{.8, .1, false},
                                         Scenario{.9, .3, false}, Scenario{.9, .1, true}));

TEST_P(Latency, OfEveryItemIsThatOfTheRecursion) {
  const auto [load, cv, random] = GetParam();
  constexpr std::size_t count = 3000;
  const auto items = loads(count, .6, 1, .4, cv);
  const auto arrivals = random ? poisson(count, 1 / load) : paced(count, 1 / load);
  PipelineReport report;
  const auto got = measured_latency(items, arrivals, 3, &report);
  const auto want = expected_latency(items, arrivals, 3);
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_NEAR(got[i], want[i], 1e-9 * arrivals.back()) << "item " << i;
  EXPECT_NEAR(report.p50, quantile(want, .5), .0625 * quantile(want, .5));
  EXPECT_NEAR(report.p99, quantile(want, .99), .0625 * quantile(want, .99));
  EXPECT_EQ(report.done, count);
  EXPECT_EQ(report.within_objective, 0) << "the objective is 10 ms";
}

// docs/pipeline.md states these figures, which are those of the design.
TEST(LatencyQuantiles, AreAsPredicted) {
  constexpr std::size_t many = 200000;
  const auto p99 = [&](double load, double cv, bool random) {
    const auto items = loads(many, .6, 1, .4, cv);
    return quantile(expected_latency(items, random ? poisson(many, 1 / load) : paced(many, 1 / load), 3),
                    .99);
  };
  EXPECT_DOUBLE_EQ(p99(.8, 0, false), 2.0) << "paced: never waits";
  EXPECT_NEAR(p99(.8, .1, false), 2.2, .1);
  EXPECT_NEAR(p99(.9, .1, false), 2.3, .1);
  EXPECT_NEAR(p99(.8, .3, false), 2.9, .1);
  EXPECT_NEAR(p99(.9, .3, false), 3.9, .2) << "more than the 3 of the design";
  EXPECT_NEAR(p99(.8, .1, true), 12, 1);
  EXPECT_NEAR(p99(.9, .1, true), 23, 3);
  // Waiting for one server of fixed service time 1 (M/D/1): P(W > x) = C exp(-r x) for long waits, where
  // load (e^r - 1) = r and C = (1 - load) / (load e^r - 1). The other two stages add 1.
  for (const double load : {.5, .7, .8, .9}) {
    double r = 3 * (1 - load);
    for (int i = 0; i < 50; ++i) r -= (load * std::expm1(r) - r) / (load * std::exp(r) - 1);
    const double wait = std::log(100 * (1 - load) / (load * std::exp(r) - 1)) / r;
    EXPECT_NEAR(p99(load, 0, true), 2 + wait, .06 * (2 + wait)) << load;
  }
}

struct Stages {
  double h, c, d, cv;
  int slots;
  double at_least;
};
class Efficiency : public testing::TestWithParam<Stages> {};
INSTANTIATE_TEST_SUITE_P(Stages, Efficiency,
                         testing::Values(Stages{1, 1, 1, 0, 3, .99}, Stages{1, 1, 1, .1, 3, .90},
                                         Stages{1, 1, 1, .1, 4, .97}, Stages{.6, 1, .6, .1, 3, .95},
                                         Stages{.8, 1, .3, .1, 3, .95}, Stages{1, .8, .5, .1, 3, .95},
                                         Stages{.4, .6, 1, .1, 3, .95}, Stages{.6, 1, .6, .3, 3, .95}));

TEST_P(Efficiency, AtSaturation) {
  const auto [h, c, d, cv, slots, at_least] = GetParam();
  SimulatedDevice& device = SimulatedDevice::make(byte_per_millisecond);
  LoadPipeline pipeline(
      device.device(), load_stages(&device), [](auto&) {}, manual({.slots = slots}));
  pipeline.measure_alone(loads(1, h, c, d, 0)[0]);
  const auto items = loads(2000, h, c, d, cv);
  const double begin = device.now();
  for (const Load& l : items) pipeline.submit(l);
  pipeline.drain();
  const PipelineReport r = pipeline.report();
  EXPECT_NEAR(r.alone.upload, h, 1e-9);
  EXPECT_NEAR(r.alone.compute, c, 1e-9);
  EXPECT_NEAR(r.alone.download, d, 1e-9);
  EXPECT_NEAR(r.together.upload, h, 1e-9) << "the simulated link has two directions";
  EXPECT_NEAR(r.together.download, d, 1e-9);
  EXPECT_NEAR(r.efficiency_limit, 1, 1e-9);
  EXPECT_NEAR(r.mean.compute, c, .02 * c);
  EXPECT_DOUBLE_EQ(r.wall, device.now() - begin);
  EXPECT_GE(r.efficiency, at_least);
  EXPECT_LE(r.efficiency, 1.02);
  EXPECT_NEAR(r.overlap, (h + c + d) * double(items.size()) / r.wall, .05 * r.overlap);
  EXPECT_LT(r.starved, .01);
  const auto expected = expected_latency(items, std::vector<double>(items.size(), 0.), std::size_t(slots));
  EXPECT_NEAR(r.wall, *std::max_element(expected.begin(), expected.end()), 1e-6);
}

TEST(Efficiency, ThreeSlotsAreEnoughForThreeStagesAndTwoAreNot) {
  for (const int slots : {2, 3, 8}) {
    SimulatedDevice& device = SimulatedDevice::make(byte_per_millisecond);
    LoadPipeline pipeline(
        device.device(), load_stages(&device), [](auto&) {}, manual({.slots = slots}));
    pipeline.measure_alone(loads(1, 1, 1, 1, 0)[0]);
    for (const Load& l : loads(1000, 1, 1, 1, 0)) pipeline.submit(l);
    pipeline.drain();
    EXPECT_NEAR(pipeline.report().efficiency, slots == 2 ? 2. / 3 : 1, .003);
    EXPECT_EQ(pipeline.report().bound, slots == 2 ? "slots" : "upload");
  }
}

TEST(Efficiency, TheReportNamesWhatBounds) {
  const auto bound = [](double h, double c, double d, double interval, double fill = 0) {
    SimulatedDevice& device = SimulatedDevice::make(byte_per_millisecond);
    auto stages = load_stages(&device);
    stages.fill = [&, fill, plain = stages.fill](const Load& l, const PipelineSlot& slot) {
      plain(l, slot);
      device.advance_to(device.now() + fill);
    };
    LoadPipeline pipeline(
        device.device(), stages, [](auto&) {}, manual({.queue = 1000}));
    const auto items = loads(200, h, c, d, 0);
    replay(device, pipeline, paced(200, interval), [&](std::size_t i) { pipeline.submit(items[i]); });
    EXPECT_EQ(pipeline.report().done, 200u);
    return pipeline.report().bound;
  };
  EXPECT_EQ(bound(1, .5, .5, 0), "upload");
  EXPECT_EQ(bound(.5, 1, .5, 0), "compute");
  EXPECT_EQ(bound(.5, .5, 1, 0), "download");
  EXPECT_EQ(bound(.1, .1, .1, 0, 1), "fill");
  EXPECT_EQ(bound(.5, 1, .5, 2), "arrivals");
}

TEST(AtOnce, CountsTheStagesOnOneClock) {
  const auto expect = [](const std::vector<StageTimes>& parts, std::array<double, 3> shares) {
    const auto got = at_once(parts);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got[i], shares[i], 1e-12) << i;
  };
  expect({}, {0, 0, 0});
  expect({{0, 1, 1, 2, 2, 3}}, {1, 0, 0});
  expect({{0, 1, 1, 2, 2, 3}, {3, 4, 4, 5, 5, 6}}, {1, 0, 0});
  expect({{0, 1, 1, 2, 2, 3}, {1, 2, 2, 3, 3, 4}}, {1, .5, 0});
  expect({{0, 1, 1, 2, 2, 3}, {1, 2, 2, 3, 3, 4}, {2, 3, 3, 4, 4, 5}}, {1, .6, .2});
  expect({{0, 1, 3, 4, 4, 4}}, {.5, 0, 0});
}

TEST(AtOnce, IsReportedForTheFirstParts) {
  const auto shares = [](bool one_by_one) {
    SimulatedDevice& device = SimulatedDevice::make(byte_per_millisecond);
    LoadPipeline pipeline(
        device.device(), load_stages(&device), [](auto&) {}, manual());
    for (const Load& l : loads(100, 1, 1, 1, 0)) {
      pipeline.submit(l);
      if (one_by_one) pipeline.drain();
    }
    pipeline.drain();
    return pipeline.report().at_once;
  };
  EXPECT_NEAR(shares(false)[1], 64. / 66, 1e-9);
  EXPECT_NEAR(shares(false)[2], 62. / 66, 1e-9);
  EXPECT_NEAR(shares(true)[0], 1, 1e-9);
  EXPECT_NEAR(shares(true)[1], 0, 1e-9);
}

// The first kernel of a split item starts when the first part is there.
TEST(Parts, LetALargeItemOverlapItself) {
  const auto latency = [](int parts) {
    SimulatedDevice& device = SimulatedDevice::make(byte_per_millisecond);
    auto stages = load_stages(&device);
    stages.parts = [parts](const Load&) { return parts; };
    stages.bytes = [parts](const Load& l, int) {
      return PipelineBytes{std::size_t(l.upload / parts), std::size_t(l.download / parts)};
    };
    stages.compute = [&device, parts](const Load& l, const PipelineSlot& slot, Stream& s) {
      device.kernel(s, l.compute / parts, [slot] { put_sum(slot); });
    };
    double seconds = 0;
    LoadPipeline pipeline(
        device.device(), stages,
        [&](auto& r) {
          EXPECT_EQ(r.value.parts, parts);
          EXPECT_EQ(r.value.value, 1000);
          seconds = r.latency;
        },
        manual());
    pipeline.submit({.upload = 1000, .compute = 1, .download = 1000});
    pipeline.drain();
    EXPECT_EQ(pipeline.report().parts, std::uint64_t(parts));
    EXPECT_EQ(pipeline.report().done, 1u);
    return seconds;
  };
  EXPECT_DOUBLE_EQ(latency(1), 3);
  EXPECT_DOUBLE_EQ(latency(2), 2);
  EXPECT_DOUBLE_EQ(latency(10), 1.2);
}

}  // namespace
}  // namespace kolmo
