#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "kolmo/check/placement.hpp"
#include "kolmo/check/verifier.hpp"
#include "kolmo/ops/nn/softmax/softmax.hpp"
#include "kolmo/runtime/metrics.hpp"
#include "kolmo/tune/lookup.hpp"
#include "kolmo/tune/shadow.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo::tune {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}
double shadow_seconds() { return metrics::counter("kolmo_tuner_shadow_gpu_seconds_total").value(); }

check::Problem problem_of(std::string_view name) {
  const auto cases = softmax->cases();
  const auto c = std::find_if(cases.begin(), cases.end(), [&](const CaseInfo& i) { return i.name == name; });
  return {softmax, *c, std::size_t(c - cases.begin())};
}

class ShadowOn : public testing::TestWithParam<const char*> {
 protected:
  void TearDown() override { stop_using(); }
};

/// Production launches for 1 ms in every 20 ms, and captures a stream at times. A thread finds a
/// configuration in the gaps, which production then uses, with the same results.
TEST_P(ShadowOn, FindsWhatProductionThenUses) {
  const Device device = parse_device(GetParam());
  if (!available(device)) GTEST_SKIP() << "there is no " << GetParam();
  const check::Problem problem = problem_of("k=5000 f32");
  Stream stream(device), others(device);
  check::Placement production(problem, stream), scratch(problem, stream);
  const auto launch = [&] {
    softmax(*static_cast<const SoftmaxArgs*>(production.args()), stream);
    stream.synchronize();
  };
  launch();
  const check::Outcome before = production.collect(stream);

  const testing_io::TemporaryFolder folder;
  CallOptions options;
  std::atomic<int> verified = 0;
  options.verify = [&, by_oracle = check::by_oracle(others)](const OpBase& op, const void* args,
                                                             const RunOptions& o) {
    ++verified;
    return by_oracle(op, args, o);
  };
  const auto chosen = [&] { return look_up(softmax, production.args(), device, stream.threads()).origin; };
  ASSERT_EQ(chosen(), Origin::none);
  const double spent = shadow_seconds();
  const auto begin = Clock::now();
  {
    const Shadow shadow({{softmax.operator->(), scratch.args()}}, device, Store(folder / "store"), options,
                        {.share = 0.2, .window = 5, .longest = 0.05});
    for (int i = 0; chosen() == Origin::none && seconds_since(begin) < 100; ++i) {
      const auto burst = Clock::now();
      while (seconds_since(burst) < 1e-3) launch();
      if (i % 10 == 0) capture(stream, [] { std::this_thread::sleep_for(milliseconds(30)); });
      std::this_thread::sleep_for(milliseconds(19));
    }
  }
  EXPECT_NE(chosen(), Origin::none) << "after " << seconds_since(begin) << " s, of which "
                                    << shadow_seconds() - spent << " s beside";
  EXPECT_GT(verified, 0);
  EXPECT_GT(shadow_seconds(), spent);
  launch();
  const check::Outcome after = production.collect(stream);
  EXPECT_EQ(after.damage, "");
  for (std::size_t f = 0; f < after.outputs.size(); ++f)
    for (std::int64_t i = 0, n = after.outputs[f].tensor.size(); i < n; ++i)
      ASSERT_NEAR(before.outputs[f].tensor.as<float>()[i], after.outputs[f].tensor.as<float>()[i],
                  problem.info().tolerance.absolute);
}

INSTANTIATE_TEST_SUITE_P(Device, ShadowOn, testing::Values("cpu", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kolmo::tune
