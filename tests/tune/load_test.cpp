// Tuning on a machine that others use too.
#include "kolmo/tune/load.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/tune/tune_call.hpp"
#include "kolmo/tune/turn.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo::tune {
namespace {

TEST(Load, DisturbsWhereTasksWaitOrTimeIsStolen) {
  const Load before{.stalled = 10, .stolen = 3};
  EXPECT_FALSE(disturbed(before, before, 1e-3));
  EXPECT_FALSE(disturbed(before, {10.00004, 3}, 1e-3));
  EXPECT_TRUE(disturbed(before, {10.00006, 3}, 1e-3)) << "6 %";
  EXPECT_TRUE(disturbed(before, {10, 3.01}, 1)) << "a tick";
}

TEST(Load, OfThisMachineGrowsWhereThreadsWaitForACore) {
  if (!std::filesystem::exists("/proc/self/schedstat"))
    GTEST_SKIP() << "this system does not tell how long threads wait";
  const Load before = machine_load();
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4 * std::thread::hardware_concurrency(); ++i)
    threads.emplace_back([&] {
      while (!done) continue;
    });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const Load after = machine_load();
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(disturbed(before, after, 0.1));
  EXPECT_GE(after.stolen, before.stolen);
}

TEST(Load, KeepsATuningFromBeingStored) {
  Stream stream(Device{}, 1);
  std::vector<double> x(100, 1), y(100, 2), z(100);
  const BinaryArgs args{
      .x = tensor(x.data(), {100}), .y = tensor(y.data(), {100}), .z = tensor(z.data(), {100})};
  const auto tune_with_every = [&](int quiet) {  // one of so many readings is disturbed
    CallOptions o;
    o.search.budget = 0.2, o.measure.warm_up = 0;
    o.measure.load = [quiet, readings = 0, load = Load{}]() mutable {
      if (++readings % quiet == 0) load.stalled += 1;
      return load;
    };
    return tune_call(vector_add, &args, stream, o).tuning;
  };
  try {
    tune_with_every(1);
    FAIL() << "every sample was disturbed";
  } catch (const Busy& e) {
    EXPECT_TRUE(
        std::string(e.what()).starts_with("vector_add: not tuned: other work on this machine disturbed "))
        << e.what();
  }
  const Tuning sometimes = tune_with_every(8);
  EXPECT_GT(sometimes.discarded, 0u);
  EXPECT_LT(2 * sometimes.discarded, sometimes.samples);
}

/// Configuration 1 is faster only at first, as when another program was slowing down configuration 0.
class Deceptive final : public Measurer {
 public:
  explicit Deceptive(int fast_samples) : left_(fast_samples) {}
  std::optional<double> sample(std::size_t config) override {
    spent_ += 1e-3;
    return config == 0 ? 1e-3 : left_-- > 0 ? 0.5e-3 : 1.1e-3;
  }
  double spent() const override { return spent_; }

 private:
  int left_;
  double spent_ = 0;
};

TEST(Switch, IsConfirmedByLaterRounds) {
  const Space space(std::vector<Parameter>{{"variant", {0, 1}}});
  std::size_t needed = 0;  // samples of configuration 1 until the decision
  {
    Deceptive always(1 << 30);
    const Tuning t = tune("x", space, always);
    EXPECT_EQ(t.winner, 1u);
    needed = t.samples / 2;
  }
  Deceptive at_first(int(needed) - 4);
  EXPECT_EQ(tune("x", space, at_first).winner, 0u) << "what won at first loses when it is asked again";
}

TEST(Turn, IsTakenByOneAtATime) {
  testing_io::TemporaryFolder folder;
  const Store store(folder / "store");
  std::filesystem::create_directories(folder / "store/v1");
  std::optional<Turn> first(std::in_place, store);
  std::atomic<bool> waits{false}, has{false};
  std::jthread other([&] {
    const Turn second(store, [&] { waits = true; });
    has = true;
  });
  while (!waits) std::this_thread::yield();
  EXPECT_FALSE(has);
  first.reset();
  other.join();
  EXPECT_TRUE(has);
  const Turn nowhere(Store(folder / "none"));  // without a folder there is nobody to wait for
}

}  // namespace
}  // namespace kolmo::tune
