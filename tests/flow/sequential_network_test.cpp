#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "kolmo/flow/infer/checkpoint.hpp"
#include "kolmo/flow/infer/network.hpp"
#include "kolmo/flow/infer/prepare.hpp"
#include "tests/flow/chain_network.hpp"
#include "tests/sim/simulated_device.hpp"

namespace kolmo {
namespace {

using namespace testing_flow;

/// Sequential tests, of which the first part has ten surrogates, and in which some links need several parts.
NetworkOptions sequential() {
  NetworkOptions o{.variables = {0, 1, 2}, .max_lag = 2, .exceedances = 2};
  o.estimator.surrogates = 300, o.estimator.surrogate_type = SurrogateMethod::permute;
  return o;
}

// The p-value of a link is that of so many surrogates of it alone.
TEST(SequentialNetwork, EndsWhereItsSurrogatesSay) {
  const Series series = series_of(chain(120));
  Stream stream;
  const NetworkOptions o = sequential();
  const Network found = infer_network(series, o, stream, nullptr, nullptr);
  std::int64_t fewest = 300, most = 0;
  for (const LinkResult& l : found.links) {
    NetworkOptions alone = o;
    alone.exceedances = 0, alone.estimator.surrogates = l.surrogate_count;
    for (const LinkResult& same : infer_network(series, alone, stream, nullptr, nullptr).links)
      if (same.source == l.source && same.target == l.target) {
        EXPECT_EQ(same.p_value, l.p_value);
        EXPECT_EQ(same.surrogates.q95, l.surrogates.q95);
        EXPECT_EQ(same.profile, l.profile);
      }
    fewest = std::min(fewest, l.surrogate_count), most = std::max(most, l.surrogate_count);
  }
  EXPECT_LT(fewest, 10);
  EXPECT_GT(most, 10);
}

/// Each link by itself or, as the parameter says, conditioned on all other variables.
class SequentialNetworks : public testing::TestWithParam<bool> {
 protected:
  NetworkOptions options_ = [] {
    NetworkOptions o = sequential();
    o.conditional_all = GetParam();
    return o;
  }();
};
INSTANTIATE_TEST_SUITE_P(, SequentialNetworks, testing::Bool());

TEST_P(SequentialNetworks, DependOnNoDeviceBatchOrThread) {
  const Series series = series_of(chain(120));
  NetworkOptions o = options_;
  Stream stream, one = stream.with_threads(1), simulated(SimulatedDevice::make().device());
  const std::string whole = text(infer_network(series, o, stream, nullptr, nullptr), series, o);
  EXPECT_EQ(text(infer_network(series, o, one, nullptr, nullptr), series, o), whole);
  EXPECT_EQ(text(infer_network(series, o, simulated, nullptr, nullptr), series, o), whole);
  o.batches = BatchLimits{.seconds = 1e-9, .most_bytes = 1};
  EXPECT_EQ(text(infer_network(series, o, stream, nullptr, nullptr), series, o), whole);
}

TEST_P(SequentialNetworks, GoOnFromAnyPartOfACheckpoint) {
  const Series series = series_of(chain(120));
  const NetworkOptions& o = options_;
  Stream stream;
  KeptWork all;
  const std::string whole = text(infer_network(series, o, stream, &all, nullptr), series, o);
  ASSERT_GT(all.all().size(), 9u) << "an embedding and several rounds of each target";
  for (std::size_t left_out = 0; left_out < all.all().size(); ++left_out) {
    std::map<Checkpoint::Id, std::string> records = all.all();
    records.erase(std::next(records.begin(), std::ptrdiff_t(left_out)));
    KeptWork again(records);
    EXPECT_EQ(text(infer_network(series, o, stream, &again, nullptr), series, o), whole) << left_out;
    EXPECT_EQ(again.all(), all.all());
  }
}

TEST_P(SequentialNetworks, MayBeComputedApart) {
  const Series series = series_of(chain(120));
  const NetworkOptions& o = options_;
  const PreparedNetwork prepared = prepare_network(series, o);
  Stream stream;
  KeptWork whole, apart;
  infer_network(prepared, stream, &whole, nullptr);
  int steps = 0;
  for (std::vector<std::int32_t> left; left = unfinished_targets(prepared, apart.all()), !left.empty();
       ++steps)
    for (const std::int32_t target : left) {
      KeptWork::Records of_target = apart.all();
      std::erase_if(of_target,
                    [&](const auto& r) { return r.first.first != series.numbers[std::size_t(target)]; });
      KeptWork work(of_target, &apart);
      infer_step(prepared, {&target, 1}, stream, work, nullptr);
    }
  EXPECT_GT(steps, 1);
  EXPECT_EQ(apart.all(), whole.all());
}

}  // namespace
}  // namespace kolmo
