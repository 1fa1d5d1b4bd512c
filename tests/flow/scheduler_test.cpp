#include "kolmo/flow/infer/scheduler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "kolmo/flow/estimate/progress.hpp"
#include "kolmo/flow/infer/network_record.hpp"
#include "kolmo/flow/infer/pairwise_search.hpp"
#include "kolmo/flow/test/max_statistic.hpp"
#include "tests/flow/test_series.hpp"
#include "tests/sim/simulated_device.hpp"

namespace kolmo {
namespace {

using namespace testing_flow;

/// Each drives the next, one row later.
Series driven(std::size_t variables, std::size_t rows) {
  std::vector<std::vector<double>> x;
  for (std::size_t v = 0; v < variables; ++v) {
    x.push_back(normals(7, std::int64_t(v), rows));
    for (std::size_t t = 1; t < rows && v; ++t) x[v][t] += 0.8 * x[v - 1][t - 1];
  }
  return series_of(x);
}

/// A search of which every round depends on the one before: of the values that are left, one row before, the one with the
/// largest information about the target joins the condition, as long as none of its surrogates reach that. A last round has two
/// tasks of different dimensions.
class Greedy final : public TargetSearch {
 public:
  Greedy(const Series& series, std::int32_t target, std::int64_t surrogates)
      : series_(series), target_(target), surrogates_(surrogates) {
    for (std::int32_t v = 0; v < std::int32_t(series.names.size()); ++v) left_.push_back(v);
  }

  std::int64_t number() const override { return target_; }
  std::optional<Round> next() override {
    if (summed_) return {};
    if (ended_) return Round{{task({{{target_, 1}}}, {}), task({{{target_, 2}}}, chosen())}, {0, 1}};
    std::vector<Coordinates> x;
    for (const std::int32_t v : left_) x.push_back({{v, 1}});
    return Round{{task(x, chosen())}, {0, 1 + surrogates_}};
  }
  void take(std::span<const Estimates> e) override {
    if (ended_) return conclude(e[0].observed(0) + e[1].observed(0));
    const MaxStatistic m = max_statistic(e[0], 0, left_.size(), PValue::plus_one);
    choose(m.p_value * double(1 + surrogates_) == 1 ? std::int64_t(m.largest) : -1);
  }
  std::string record() const override { return last_; }
  std::int64_t replay(const std::string& record) override {
    const std::size_t left = left_.size();
    if (ended_) return conclude(std::stod(record)), 2;
    choose(std::stoll(record));
    return std::int64_t(left) * (1 + surrogates_);
  }
  std::string found() const {
    std::string all;
    for (const Coordinate& c : chosen_) all += std::to_string(c.variable) + " ";
    return all + std::to_string(sum_);
  }

 private:
  const Coordinates& chosen() const { return chosen_; }
  EstimationTask task(std::vector<Coordinates> x, Coordinates z) const {
    std::vector<std::int64_t> streams(x.size(), 5);
    return {"greedy", std::move(x), {{target_, 0}}, std::move(z), embeddable(series_, 2), std::move(streams)};
  }
  void choose(std::int64_t which) {
    last_ = std::to_string(which);
    ended_ = which < 0;
    if (ended_) return;
    chosen_.push_back({left_[std::size_t(which)], 1});
    left_.erase(left_.begin() + which);
    ended_ = left_.empty();
  }
  void conclude(double sum) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", sum);
    sum_ = sum, summed_ = true, last_ = text;
  }

  const Series& series_;
  std::int32_t target_;
  std::int64_t surrogates_;
  std::vector<std::int32_t> left_;
  Coordinates chosen_;
  bool ended_ = false, summed_ = false;
  double sum_ = 0;
  std::string last_;
};

EstimatorOptions permuted(std::int64_t surrogates) {
  return {.surrogates = surrogates, .surrogate_type = SurrogateMethod::permute};
}

struct Outcome {
  std::vector<std::string> found;
  FinishedWork::Records records;
  double done = 0;
};

Outcome searched(const Series& series, const EstimatorOptions& o, const Streams& streams,
                 std::optional<BatchLimits> limits = {}, const FinishedWork::Records& finished = {}) {
  std::vector<std::unique_ptr<Greedy>> searches;
  std::vector<TargetSearch*> all;
  for (std::int32_t v = 0; v < std::int32_t(series.names.size()); ++v) {
    searches.push_back(std::make_unique<Greedy>(series, v, o.surrogates));
    all.push_back(searches.back().get());
  }
  KeptWork work(finished);
  Outcome run;
  Progress progress(1, "estimates", [&](double done, double) { run.done = done; });
  run_searches(all, {series, o, streams, limits, &work, &progress});
  for (const auto& s : searches) run.found.push_back(s->found());
  run.records = work.all();
  return run;
}

/// The same by a plain loop over one search.
std::string alone(const Series& series, const EstimatorOptions& o, std::int32_t target) {
  Greedy search(series, target, o.surrogates);
  Stream stream;
  while (const auto round = search.next()) {
    std::vector<Estimates> results;
    for (const EstimationTask& t : round->tasks)
      results.push_back(estimate(series, {&t, 1}, o, stream, round->surrogates)[0]);
    search.take(results);
  }
  return search.found();
}

TEST(Scheduler, RunsSearchesWhoseRoundsDependOnEachOther) {
  const Series series = driven(4, 200);
  const EstimatorOptions o = permuted(19);
  Stream one({}, 1), two({}, 2);
  const Outcome usual = searched(series, o, one);
  for (std::int32_t v = 0; v < 4; ++v) EXPECT_EQ(usual.found[std::size_t(v)], alone(series, o, v));
  EXPECT_EQ(usual.found[2].substr(0, 2), "1 ") << "the driver is found first";
  for (const BatchLimits& limits :
       {BatchLimits{.seconds = 1e-9}, BatchLimits{.seconds = 1e-9, .least_work = 1e12},
        BatchLimits{.seconds = 1e-9, .least_estimates = 40}}) {
    const Outcome other = searched(series, o, one, limits);
    EXPECT_EQ(other.found, usual.found);
    EXPECT_EQ(other.records, usual.records);
    EXPECT_EQ(other.done, usual.done);
  }
  EXPECT_EQ(searched(series, o, two).found, usual.found);
  const Streams devices({Stream(SimulatedDevice::make().device()), Stream(SimulatedDevice::make().device())});
  EXPECT_EQ(searched(series, o, devices, BatchLimits{.seconds = 1e-9}).found, usual.found);
}

TEST(Scheduler, OtherDevicesDoTheWorkOfOneThatIsLost) {
  const Series series = driven(4, 200);
  const EstimatorOptions o = permuted(19);
  const Outcome usual = searched(series, o, Stream());
  for (const std::uint64_t work : {1u, 2u, 5u, 9u, 20u, 33u}) {
    SimulatedDevice &good = SimulatedDevice::make(), &bad = SimulatedDevice::make();
    const Streams devices({Stream(bad.device()), Stream(good.device())});
    bad.fail_work(work);
    const Outcome found = searched(series, o, devices, BatchLimits{.seconds = 1e-9});
    EXPECT_EQ(found.found, usual.found) << work;
    EXPECT_EQ(found.records, usual.records) << work;
    EXPECT_EQ(found.done, usual.done) << work;
    ASSERT_EQ(devices.losses().size(), 1u) << work;
    EXPECT_EQ(devices.losses()[0].device, bad.device());
    EXPECT_EQ(searched(series, o, devices).found, usual.found) << "a device that was lost is left out";
  }
  SimulatedDevice &a = SimulatedDevice::make(), &b = SimulatedDevice::make();
  const Streams devices({Stream(a.device()), Stream(b.device())});
  a.fail_work(3), b.fail_work(7);
  EXPECT_THROW(searched(series, o, devices, BatchLimits{.seconds = 1e-9}), DeviceError);
  EXPECT_EQ(devices.losses().size(), 2u);
}

TEST(Estimates, DevicesShareTheSurrogatesOfOneEstimate) {
  const Series series = driven(3, 400);
  for (const auto type : {SurrogateMethod::circular, SurrogateMethod::permute, SurrogateMethod::iaaft}) {
    EstimatorOptions o{.surrogates = 1500, .surrogate_type = type};
    EstimationTask task = transfer_entropy_task(series, 0, 1, {}, {}, {}, 1);
    task.x.push_back({{2, 1}}), task.streams.push_back(9);
    if (type == SurrogateMethod::iaaft) o.surrogates = 60;
    const Estimates whole = estimate(series, task, o, Stream());
    const auto expect_equal = [&](const Streams& devices) {
      std::vector<double> done;
      Progress progress(1, "estimates", [&](double d, double) { done.push_back(d); });
      const Estimates shared = estimate(series, task, o, devices, &progress);
      EXPECT_EQ(shared.values, whole.values);
      EXPECT_EQ(shared.different, whole.different);
      EXPECT_EQ(done.back(), double(2 * (1 + o.surrogates)));
      EXPECT_EQ(done.size(), 2u) << "what devices of one model do for every part, each does once";
    };
    SimulatedDevice &good = SimulatedDevice::make(), &bad = SimulatedDevice::make();
    const Streams devices({Stream(good.device()), Stream(bad.device())});
    expect_equal(devices);
    EXPECT_TRUE(devices.losses().empty());
    bad.fail_work(1);
    expect_equal(devices);
    EXPECT_EQ(devices.losses().size(), 1u) << "both were used";
    good.fail_work(1);
    EXPECT_THROW(estimate(series, task, o, devices), DeviceError);
    EXPECT_THROW(estimate(series, task, o, devices), DeviceError) << "none is left";
  }
}

TEST(Estimates, SharesAreComputedInPartsThatShowProgress) {
  const Series series = driven(3, 400);
  const EstimatorOptions o{.surrogates = 9000, .surrogate_type = SurrogateMethod::permute};
  const EstimationTask task = transfer_entropy_task(series, 0, 1, {}, {}, {}, 1);
  const Estimates whole = estimate(series, task, o, Stream());
  for (const int lost : {0, 1, 2}) {
    SimulatedDevice &good = SimulatedDevice::make(), &bad = SimulatedDevice::make();
    const Streams devices({Stream(good.device()), Stream(bad.device())});
    if (lost) bad.fail_work(lost);
    std::vector<double> done;
    Progress progress(1, "estimates", [&](double d, double) { done.push_back(d); });
    EXPECT_EQ(estimate(series, task, o, devices, &progress).values, whole.values) << lost;
    EXPECT_EQ(done.back(), 9001.);
    EXPECT_GE(done.size(), 4u) << "a share of 4500 estimates of 400 rows is more than a part";
    EXPECT_EQ(devices.losses().size(), std::size_t(lost > 0));
  }
}

TEST(Scheduler, ReplaysTheRoundsThatAreFinished) {
  const Series series = driven(3, 150);
  const EstimatorOptions o = permuted(19);
  Stream stream;
  const Outcome whole = searched(series, o, stream);
  EXPECT_GT(whole.records.size(), 6u) << "several rounds of each of three targets";
  for (std::size_t gap = 0; gap < whole.records.size(); ++gap) {
    FinishedWork::Records records = whole.records;
    records.erase(std::next(records.begin(), std::ptrdiff_t(gap)));
    const Outcome again = searched(series, o, stream, {}, records);
    EXPECT_EQ(again.found, whole.found);
    EXPECT_EQ(again.records, whole.records);
    EXPECT_EQ(again.done, whole.done) << "progress counts what was replayed";
  }
}

TEST(Scheduler, PassesOnTheErrorOfASearch) {
  struct Faulty final : TargetSearch {
    std::int64_t number() const override { return 0; }
    std::optional<Round> next() override { return Round{{task}, {0, 1}}; }
    void take(std::span<const Estimates>) override { fail<InvalidArgument>("the search failed"); }
    std::string record() const override { return ""; }
    std::int64_t replay(const std::string&) override { return 0; }
    EstimationTask task;
  } search;
  const Series series = driven(2, 50);
  search.task = {"t", {{{0, 1}}}, {{1, 0}}, {}, embeddable(series, 1), {0}};
  Stream stream;
  TargetSearch* const all[] = {&search};
  const EstimatorOptions o;
  EXPECT_THROW(run_searches(all, {series, o, stream}), InvalidArgument);
}

// As many rounds as sources, or one: the links are the same.
TEST(PairwiseSearch, RoundsOfAnyLengthGiveTheSameLinks) {
  const Series series = driven(4, 120);
  for (const auto type : {SurrogateMethod::circular, SurrogateMethod::iaaft}) {
    NetworkOptions o{.variables = {0, 1, 2, 3}, .max_lag = 2, .embedding = EmbeddingRule::given};
    o.estimator = {.surrogates = 9, .surrogate_type = type};
    const PreparedNetwork network = prepare_network(series, o);
    const auto links = [&](double round, std::size_t rounds) {
      PairwiseSearch search(network, {1, {1, 1}, 0, 0}, round);
      Stream stream;
      TargetSearch* const all[] = {&search};
      KeptWork work;
      run_searches(all, {series, network.options.estimator, stream, {}, &work});
      EXPECT_EQ(work.all().size(), rounds);
      PairwiseSearch again(network, {1, {1, 1}, 0, 0}, round);
      const Replayed replayed = replay(again, work.all());
      EXPECT_EQ(replayed.rounds, std::int64_t(rounds));
      EXPECT_EQ(replayed.estimates, 3 * 2 * 10);
      EXPECT_EQ(to_record(again.links()), to_record(search.links()));
      EXPECT_FALSE(again.next());
      return to_record(search.links());
    };
    EXPECT_EQ(links(1, 3), links(PairwiseSearch::usual_round, 1));
    EXPECT_EQ(links(2.5 * link_work(series, network.options), 2), links(1, 3));
  }
}

TEST(SurrogateRange, PartsAreThoseOfTheWhole) {
  Series s = driven(3, 80);
  const auto same = [&](EstimatorOptions o) {
    Stream stream;
    EstimationTask task = transfer_entropy_task(s, 0, 1, {}, {}, {}, 1);
    task.x.push_back({{2, 1}}), task.streams.push_back(9);
    o = settled(o, s, 1);
    if (o.surrogate_type == SurrogateMethod::circular) task.min_shifts = {o.min_shift, o.min_shift + 9};
    const Estimates whole = estimate(s, {&task, 1}, o, stream)[0];
    EXPECT_EQ(whole.draws.count, 1 + o.surrogates);
    const auto width = std::size_t(whole.draws.count);
    std::int64_t different[2] = {};
    for (std::int64_t first = 0, count; first < whole.draws.count; first += count) {
      count = std::min(first % 3 ? std::int64_t(7) : std::int64_t(1 + first / 5), whole.draws.count - first);
      const Estimates part = estimate(s, {&task, 1}, o, stream, SurrogateRange{first, count})[0];
      for (std::size_t a = 0; a < 2; ++a) {
        different[a] += part.different[a];
        for (std::size_t i = 0; i < std::size_t(count); ++i)
          ASSERT_EQ(part.values[a * std::size_t(count) + i], whole.values[a * width + std::size_t(first) + i])
              << surrogate_method_names[std::size_t(o.surrogate_type)] << ", draw " << first << " + " << i;
        EXPECT_EQ(std::int64_t(part.surrogate(a).size()), part.different[a]);
      }
    }
    for (std::size_t a = 0; a < 2; ++a) EXPECT_EQ(different[a], whole.different[a]);
  };
  for (const auto type : {SurrogateMethod::circular, SurrogateMethod::permute, SurrogateMethod::block,
                          SurrogateMethod::phase, SurrogateMethod::iaaft})
    same({.surrogates = 90, .surrogate_type = type});
  same({.surrogates = 40, .algorithm = KsgAlgorithm::ksg2});
  same({.surrogates = 40, .surrogate_type = SurrogateMethod::block, .estimator = Estimator::gaussian});
  s.trial.assign(80, 0);
  std::fill(s.trial.begin() + 40, s.trial.end(), 1);
  same({.surrogates = 20, .surrogate_type = SurrogateMethod::trials});
}

}  // namespace
}  // namespace kolmo
