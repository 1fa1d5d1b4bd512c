// The flow layer and the operator compute transfer entropy from equal embeddings, so that results have equal
// bits.
#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/flow/estimate/estimate.hpp"
#include "kolmo/ops/info/ksg_transfer_entropy/ksg_transfer_entropy.hpp"
#include "tests/flow/test_series.hpp"

namespace kolmo {
namespace {

using namespace testing_flow;

struct Setting {
  Embedding source, target;
  std::int64_t lag, theiler, trials;
  bool given;
};

class TransferEntropyEmbedded : public testing::TestWithParam<Setting> {};

TEST_P(TransferEntropyEmbedded, FlowAndOperatorAgree) {
  const Setting s = GetParam();
  constexpr std::int64_t samples = 80, surrogates = 3;
  // The operator takes trials end to end; the series takes them separated by a row with a missing value.
  std::vector<double> trials[3];
  std::vector<std::vector<double>> columns(3);
  for (std::int64_t v = 0; v < 3; ++v)
    for (std::int64_t r = 0; r < s.trials; ++r) {
      if (r) columns[std::size_t(v)].push_back(v ? 0 : std::nan(""));
      for (const double x : normals(7, 3 * r + v, samples))
        trials[v].push_back(x), columns[std::size_t(v)].push_back(x);
    }
  const Series series = series_of(columns, {.standardize = Standardize::none, .noise = 0});
  const Coordinates given(s.given ? 1 : 0, {2, 1});
  EstimationTask task = transfer_entropy_task(series, 0, 1, given, s.source, s.target, s.lag);
  task.streams = {0};
  EstimatorOptions options;
  options.theiler = s.theiler, options.surrogates = surrogates;
  options.surrogate_type = SurrogateMethod::permute;
  Stream stream;
  const std::vector<double> flow = estimate(series, task, options, stream).values;

  std::vector<double> value(1 + surrogates);
  KsgTransferEntropyArgs a{.source = tensor(trials[0].data(), {1, s.trials, samples}),
                           .target = tensor(trials[1].data(), {s.trials, samples}),
                           .value = tensor(value.data(), {1, 1 + surrogates})};
  if (s.given) a.given = tensor(trials[2].data(), {1, s.trials, samples});
  a.history = s.target.history, a.tau = s.target.tau;
  a.source_history = s.source.history, a.source_tau = s.source.tau, a.lag = s.lag;
  a.theiler = s.theiler, a.surrogates = surrogates;
  ksg_transfer_entropy(a, stream);
  EXPECT_EQ(flow, value);
}

INSTANTIATE_TEST_SUITE_P(Settings, TransferEntropyEmbedded,
                         testing::Values(Setting{{1, 1}, {1, 1}, 1, 0, 1, false},
                                         Setting{{3, 2}, {2, 3}, 4, 0, 1, false},
                                         Setting{{2, 1}, {3, 1}, 2, 1, 1, true},
                                         Setting{{1, 1}, {2, 2}, 1, 2, 3, true}));

}  // namespace
}  // namespace kolmo
