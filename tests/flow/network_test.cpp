#include "kolmo/flow/infer/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "kolmo/flow/data/autocorrelation.hpp"
#include "kolmo/flow/estimate/batching.hpp"
#include "kolmo/flow/estimate/progress.hpp"
#include "kolmo/flow/infer/checkpoint.hpp"
#include "kolmo/flow/infer/choose_embedding.hpp"
#include "kolmo/flow/infer/network_record.hpp"
#include "kolmo/flow/infer/prepare.hpp"
#include "kolmo/flow/simulate/simulate.hpp"
#include "kolmo/runtime/cpu/interrupt.hpp"
#include "tests/flow/chain_network.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/sim/simulated_device.hpp"

namespace kolmo {
namespace {

using namespace testing_flow;
using testing_io::TemporaryFolder;

NetworkOptions options(std::int32_t variables, std::int64_t max_lag, std::int64_t surrogates) {
  NetworkOptions o;
  for (std::int32_t v = 0; v < variables; ++v) o.variables.push_back(v);
  o.max_lag = max_lag, o.estimator.surrogates = surrogates;
  return o;
}

NetworkOptions given_embedding(NetworkOptions o) {
  o.embedding = EmbeddingRule::given;
  return o;
}

// A slowly varying variable changes the circular shifts of its own links only.
TEST(LinkShifts, EachLinkHasItsOwn) {
  std::vector<std::vector<double>> x{normals(5, 0, 300), normals(5, 1, 300), normals(5, 2, 300)};
  for (std::size_t t = 1; t < 300; ++t) x[2][t] += 0.95 * x[2][t - 1];
  const Series series = series_of(x);
  NetworkOptions o = given_embedding(options(3, 2, 1000));
  const std::int64_t slow = autocorrelation(column_of(series, 2)).length;
  ASSERT_GT(slow, 10);
  const LinkShifts shifts(series, o);
  EXPECT_EQ(shifts.of(0, 1), 3) << "one row more than the embedding reaches back";
  EXPECT_EQ(shifts.of(2, 0), slow);
  EXPECT_EQ(shifts.of(1, 2), slow);
  Stream stream;
  for (const LinkResult& l : infer_network(series, o, stream, nullptr, nullptr).links) {
    EXPECT_EQ(l.min_shift, shifts.of(l.source, l.target));
    EXPECT_EQ(l.surrogate_count, 298 - 2 * l.min_shift + 1);
  }
  o.given = {{2, 1}};
  EXPECT_EQ(LinkShifts(series, o).of(0, 1), slow) << "of the condition";
  o.estimator.min_shift = 7;
  EXPECT_EQ(LinkShifts(series, o).of(0, 1), 7) << "as given";
  o.estimator.min_shift = 0, o.estimator.surrogate_type = SurrogateMethod::permute;
  EXPECT_EQ(LinkShifts(series, o).of(2, 1), 0);
}

TEST(Network, FindsAChain) {
  const Series series = series_of(chain(500));
  NetworkOptions o = options(3, 3, 199);
  Stream stream;
  const Network found = infer_network(series, o, stream, nullptr, nullptr);
  ASSERT_EQ(found.links.size(), 6u);
  for (const LinkResult& l : found.links) {
    EXPECT_EQ(l.value, l.profile[std::size_t(l.lag - 1)]);
    EXPECT_EQ(l.value, *std::max_element(l.profile.begin(), l.profile.end()));
    EXPECT_EQ(l.profile.size(), 3u);
    EXPECT_GE(l.p_adjusted, l.p_value);
    const std::pair pair(l.source, l.target);
    if (pair == std::pair(0, 1)) {
      EXPECT_TRUE(l.significant && l.lag == 2) << l.lag;
    } else if (pair == std::pair(1, 2)) {
      EXPECT_TRUE(l.significant && l.lag == 1) << l.lag;
    } else if (l.source == 2) {
      EXPECT_FALSE(l.significant);
    }
  }
}

TEST(Network, ConditioningRemovesACommonDriver) {
  const std::size_t n = 600;
  const auto z = normals(4, 2, n);
  std::vector<std::vector<double>> x{normals(4, 0, n), normals(4, 1, n), z};
  for (std::size_t t = 2; t < n; ++t)
    x[0][t] = 0.5 * x[0][t] + z[t - 1], x[1][t] = 0.5 * x[1][t] + 0.9 * x[0][t];
  // x1 now equals x0's present, so given z, x0 has no information about x1's future.
  const Series series = series_of(x);
  NetworkOptions o = given_embedding(options(2, 1, 99));
  o.given = {{2, 1}};
  Stream stream;
  for (const LinkResult& l : infer_network(series, o, stream, nullptr, nullptr).links)
    EXPECT_FALSE(l.significant);
}

TEST(Network, AgreesWithSingleEstimates) {
  const Series series = series_of(chain(200));
  NetworkOptions o = given_embedding(options(3, 1, 50));
  o.target = {2, 1};
  Stream stream;
  for (const LinkResult& l : infer_network(series, o, stream, nullptr, nullptr).links) {
    const Estimates e =
        estimate(series, transfer_entropy_task(series, l.source, l.target, {}, {1, 1}, {2, 1}, 1),
                 o.estimator, stream);
    EXPECT_EQ(l.value, e.observed(0));
    EXPECT_EQ(l.p_value, p_value(l.value, e.surrogate(0), PValue::plus_one));
  }
}

TEST(Network, DoesNotDependOnThreadsOrTheOrderOfColumns) {
  const Table table = table_of(chain(150));
  const std::vector<std::size_t> forth{0, 1, 2}, back{2, 0, 1};
  const Series a = make_series(table, forth, {}), b = make_series(table, back, {});
  const NetworkOptions o = options(3, 2, 30);
  Stream one({}, 1), two({}, 2);
  const Network first = infer_network(a, o, one, nullptr, nullptr);
  EXPECT_EQ(text(infer_network(a, o, two, nullptr, nullptr), a, o), text(first, a, o));
  const auto names = [](const Series& s, const LinkResult& l) {
    return s.names[std::size_t(l.source)] + ">" + s.names[std::size_t(l.target)];
  };
  std::map<std::string, std::string> links;
  for (const LinkResult& l : first.links) links[names(a, l)] = to_record({&l, 1});
  for (const LinkResult& l : infer_network(b, o, two, nullptr, nullptr).links)
    EXPECT_EQ(to_record({&l, 1}), links.at(names(b, l)));
}

TEST(Network, DoesNotDependOnBatches) {
  const Series series = series_of(chain(150));
  NetworkOptions o = options(3, 2, 30);
  Stream stream;
  const std::string usual = text(infer_network(series, o, stream, nullptr, nullptr), series, o);
  const BatchLimits sizes[] = {{.seconds = 1e-9},
                               {.seconds = 1e-9, .least_estimates = 120},
                               {.seconds = 1e-9, .least_work = 1e12, .most_rows = 300},
                               {.seconds = 1e-9, .least_work = 1e12}};
  for (const BatchLimits& limits : sizes) {
    o.batches = limits;
    EXPECT_EQ(text(infer_network(series, o, stream, nullptr, nullptr), series, o), usual);
  }
}

// Autoregressions of different persistence. Links that differ only in the shifts of their surrogates are
// estimated together; those whose targets differ in their history are not.
TEST(Network, LinksThatAreAlikeAreEstimatedTogether) {
  constexpr std::int32_t variables = 12;
  std::vector<std::vector<double>> x;
  for (std::int32_t v = 0; v < variables; ++v) {
    x.push_back(normals(3, std::uint64_t(v), 400));
    for (std::size_t t = 1; t < x.back().size(); ++t) x.back()[t] += 0.08 * double(v) * x.back()[t - 1];
  }
  const Series series = series_of(x);
  NetworkOptions o = options(variables, 1, 20);
  o.max_history = 3, o.batches = BatchLimits{.least_work = 1e12};
  const double of_links = double(variables) * (variables - 1) * 400 * 21, all = network_work(series, o);
  std::size_t batches = 0;
  Progress progress(all, "estimates", [&](double done, double) { batches += done > all - of_links + 1; });
  Stream stream;
  const Network network = infer_network(series, o, stream, nullptr, &progress);

  std::set<std::int64_t> shifts, histories;
  for (const LinkResult& l : network.links) shifts.insert(l.min_shift);
  for (const TargetResult& t : network.targets) histories.insert(t.embedding.history);
  EXPECT_GT(shifts.size(), 2u);
  EXPECT_GT(histories.size(), 1u);
  EXPECT_EQ(batches, histories.size());
}

TEST(Network, IsTheSameOnADeviceWithMemoryOfItsOwn) {
  const Series series = series_of(chain(150));
  const NetworkOptions o = options(3, 2, 30);
  Stream cpu, simulated(SimulatedDevice::make().device());
  EXPECT_EQ(text(infer_network(series, o, simulated, nullptr, nullptr), series, o),
            text(infer_network(series, o, cpu, nullptr, nullptr), series, o));
}

TEST(Network, FailsWithTheErrorOfTheDevice) {
  const Series series = series_of(chain(150));
  SimulatedDevice& device = SimulatedDevice::make();
  Stream stream(device.device());
  device.fail_work(4);  // the upload of the second batch
  EXPECT_THROW(infer_network(series, given_embedding(options(3, 2, 30)), stream, nullptr, nullptr),
               DeviceError);
  SimulatedDevice& full = SimulatedDevice::make();
  Stream cramped(full.device());
  full.fail_allocation(2);
  EXPECT_THROW(infer_network(series, given_embedding(options(3, 2, 30)), cramped, nullptr, nullptr),
               OutOfMemory);
}

TEST(Network, GoesOnFromAnyPartOfACheckpoint) {
  const Series series = series_of(chain(120));
  const NetworkOptions o = options(3, 2, 20);
  Stream stream;
  const std::string whole = text(infer_network(series, o, stream, nullptr, nullptr), series, o);
  TemporaryFolder folder;
  const std::string all = folder / "all";
  {
    Checkpoint c(all, "key");
    infer_network(series, o, stream, &c, nullptr);
  }
  const Checkpoint finished(all, "key");
  ASSERT_EQ(finished.finished().size(), 6u) << "an embedding and a round of each target";
  for (unsigned part = 0; part < 64; part += 5) {
    std::map<Checkpoint::Id, std::string> records;
    unsigned bit = 0;
    for (const auto& record : finished.finished())
      if (part >> bit++ & 1) records.insert(record);
    const std::string path = folder / std::to_string(part);
    Checkpoint(path, "key").add(records);
    Checkpoint again(path, "key");
    EXPECT_EQ(text(infer_network(series, o, stream, &again, nullptr), series, o), whole) << part;
  }
}

TEST(Network, TargetsMayBeComputedApart) {
  const Series series = series_of(chain(120));
  const NetworkOptions o = options(3, 2, 20);
  Stream stream;
  KeptWork whole;
  const std::string want = text(infer_network(series, o, stream, &whole, nullptr), series, o);
  KeptWork apart;
  for (const std::int32_t target : {2, 0, 1}) {
    NetworkOptions part = o;
    part.targets = {target};
    KeptWork work({}, &apart);
    const Network found = infer_network(series, part, stream, &work, nullptr);
    EXPECT_EQ(found.links.size(), 2u);
    EXPECT_EQ(work.all().size(), 2u) << "an embedding and a round";
  }
  EXPECT_EQ(apart.all(), whole.all());
  EXPECT_TRUE(apart.finished().empty()) << "what a run added";
  KeptWork further(apart.all());
  KeptWork work({}, &further);
  EXPECT_EQ(work.finished(), whole.all());
  EXPECT_EQ(text(infer_network(series, o, stream, &work, nullptr), series, o), want);
}

TEST(Network, IsInterruptedBetweenItsParts) {
  const Series series = series_of(chain(120));
  Stream stream;
  std::atomic<bool> request{false};
  KeptWork work;
  Progress progress(1, "estimates", [&](double done, double) { request = done > 0; });
  const Interruptible scope(&request);
  EXPECT_THROW(infer_network(series, options(3, 2, 20), stream, &work, &progress), Interrupted);
  EXPECT_FALSE(work.all().empty());
}

TEST(Network, RunKeyTellsDataAndOptions) {
  auto x = chain(50);
  const auto key = [&](const Preparation& p, const nlohmann::ordered_json& o) {
    return run_key(series_of(x, p), o);
  };
  const std::string before = key({}, {{"a", 1}});
  EXPECT_EQ(key({}, {{"a", 1}}), before);
  EXPECT_NE(key({}, {{"a", 2}}), before);
  Preparation seeded;
  seeded.seed = 1;
  EXPECT_NE(key(seeded, {{"a", 1}}), before);
  x[1][49] = std::nextafter(x[1][49], 9.0);
  EXPECT_NE(key({}, {{"a", 1}}), before);
}

TEST(Embeddings, OfAutoregressions) {
  // x(t) depends on its last two values, mostly on the second, so a history of 1 is not enough.
  const std::size_t n = 1500;
  auto x = normals(2, 0, n), w = normals(2, 1, n);
  for (std::size_t t = 2; t < n; ++t) x[t] += 0.2 * x[t - 1] + 0.7 * x[t - 2];
  const Series series = series_of({x, w});
  NetworkOptions o = options(2, 1, 0);
  Stream stream;
  for (const auto rule : {EmbeddingRule::ais, EmbeddingRule::ragwitz}) {
    o.embedding = rule;
    auto chosen = choose_embeddings(series, o, o.variables, stream);
    measure_storage(series, o, chosen, stream);
    EXPECT_GE(chosen[0].embedding.history, 2) << embedding_rule_names[std::size_t(rule)];
    EXPECT_EQ(
        chosen[0].storage,
        estimate(series, storage_task(series, 0, chosen[0].embedding), o.estimator, stream).observed(0));
    EXPECT_GT(chosen[0].storage, 0.3);
    EXPECT_LT(chosen[1].storage, 0.1);
  }
}

// Three independent series are analysed 200 times. With 119 surrogates p <= 0.05 has probability
// 6 / 120 = 0.05 exactly for every link; the six links of a network are nearly independent, and the
// family-wise rate is at most 0.05.
TEST(FalsePositives, AreWithinBinomialBounds) {
  Stream stream;
  int links = 0, families_bh = 0, families_bonferroni = 0, tests = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::size_t n = 60;
    const Series series = series_of({normals(seed, 0, n), normals(seed, 1, n), normals(seed, 2, n)});
    NetworkOptions o = given_embedding(options(3, 2, 119));
    o.estimator.seed = std::int64_t(seed);
    std::vector<double> p;
    for (const LinkResult& l : infer_network(series, o, stream, nullptr, nullptr).links) {
      p.push_back(l.p_value);
      links += l.p_value <= 0.05, ++tests;
    }
    const auto any = [&](Correction c) {
      const auto q = adjust(p, c);
      return *std::min_element(q.begin(), q.end()) <= 0.05;
    };
    families_bh += any(Correction::bh), families_bonferroni += any(Correction::bonferroni);
  }
  const auto bound = [](double count, double rate) { return 4 * std::sqrt(count * rate * (1 - rate)); };
  EXPECT_EQ(tests, 1200);
  EXPECT_NEAR(links, 1200 * 0.05, bound(1200, 0.05));
  EXPECT_LE(families_bh, 200 * 0.05 + bound(200, 0.05));
  EXPECT_LE(families_bonferroni, 200 * 0.05 + bound(200, 0.05));
}

struct Score {
  int found = 0, right = 0, truth = 0, lags = 0;
  double precision() const { return double(right) / found; }
  double recall() const { return double(right) / truth; }
};

Score score(const std::string& kind, std::int64_t samples, std::int64_t surrogates) {
  Score s;
  Stream stream;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Simulation simulation = simulate(kind, 5, samples, seed);
    const Series series = series_of(simulation.values);
    const NetworkOptions o = options(5, 3, surrogates);
    std::map<std::pair<int, int>, int> truth;
    for (const TrueLink& l : simulation.links) truth[{l.source, l.target}] = l.lag;
    s.truth += int(truth.size());
    for (const LinkResult& l : infer_network(series, o, stream, nullptr, nullptr).links) {
      if (!l.significant) continue;
      const auto real = truth.find({l.source, l.target});
      ++s.found, s.right += real != truth.end();
      s.lags += real != truth.end() && real->second == l.lag;
    }
  }
  return s;
}

// The bounds are those of docs/network_inference.md. Pairwise estimates also detect indirect drivers, which
// reduces precision if coupling is strong.
TEST(Truth, CoupledLogistic) {
  const Score s = score("coupled-logistic", 1000, 199);
  EXPECT_GE(s.recall(), 0.95) << s.right << " of " << s.truth;
  EXPECT_GE(s.precision(), 0.8) << s.right << " of " << s.found;
  EXPECT_GE(s.lags, 0.8 * s.right);
}
TEST(Truth, VectorAutoregression) {
  const Score s = score("var", 1000, 199);
  EXPECT_GE(s.recall(), 0.7) << s.right << " of " << s.truth;
  EXPECT_GE(s.precision(), 0.8) << s.right << " of " << s.found;
  EXPECT_GE(s.lags, 0.9 * s.right);
}

}  // namespace
}  // namespace kolmo
