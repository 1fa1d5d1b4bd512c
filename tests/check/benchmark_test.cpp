#include "kolmo/check/benchmark.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "kolmo/base/activation.hpp"

namespace kolmo::check {
namespace {

struct SteppedArgs {
  InOut state;
  In step;

  static constexpr auto fields() {
    return std::array{field<&SteppedArgs::state>("state", "n", DTypes::of(DType::f64), "changed in place"),
                      field<&SteppedArgs::step>("step", "n", DTypes::of(DType::f64), "added to it")};
  }
};

int calls = 0, on_changed_state = 0;
double first_state = 0;

void step(const SteppedArgs& a, Arena, Stream&, int) {
  double* const state = a.state.as<double>();
  if (calls++ == 0) first_state = state[0];
  on_changed_state += state[0] != first_state;
  for (std::int64_t i = 0; i < a.state.size(); ++i) state[i] += a.step.as<double>()[i];
}

struct SlowArgs {
  In x;
  Out y;

  static constexpr auto fields() {
    return std::array{field<&SlowArgs::x>("x", "n", DTypes::of(DType::f64), "values"),
                      field<&SlowArgs::y>("y", "n", DTypes::of(DType::f64), "values")};
  }
};
void sleep(const SlowArgs&, Arena, Stream&, int) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

constexpr Case<SteppedArgs> stepped_cases[] = {{.name = "n=100", .sizes = {{"n", 100}}}};
constexpr Case<SlowArgs> slow_cases[] = {{.name = "n=1", .sizes = {{"n", 1}}}};
constinit const Definition<SteppedArgs> stepped{
    {.name = "stepped"},
    {.flops = [](const SteppedArgs& a) { return double(a.state.size()); }, .cases = stepped_cases}};
constinit const Impl<SteppedArgs> stepped_cpu{{.launch = step}};
constinit const Definition<SlowArgs> slow{
    {.name = "slow"}, {.flops = [](const SlowArgs&) { return 1.0; }, .cases = slow_cases}};
constinit const Impl<SlowArgs> slow_cpu{{.launch = sleep}};

TEST(Benchmark, EveryCallWorksOnTheStateOfTheCase) {
  Stream stream(Device{}, 1);
  calls = on_changed_state = 0;
  const Benchmark b =
      benchmark_case({.op = &stepped, .on = {&stepped_cpu}}, 0, stream, -1, {.seconds_per_sample = 1e-2});
  EXPECT_GT(b.calls_per_sample, 1);
  EXPECT_GT(calls, b.calls_per_sample * 5);
  EXPECT_EQ(on_changed_state, 0);
}

TEST(Benchmark, TakesNoMoreSamplesThanThePrecisionNeeds) {
  Stream stream(Device{}, 1);
  BenchmarkOptions options{.samples = 9, .precision = 0, .seconds_per_sample = 1e-4};
  EXPECT_EQ(benchmark_case({.op = &stepped, .on = {&stepped_cpu}}, 0, stream, -1, options).samples.size(),
            9u);
  options.precision = 1e9;
  const Benchmark b = benchmark_case({.op = &stepped, .on = {&stepped_cpu}}, 0, stream, -1, options);
  EXPECT_EQ(b.samples.size(), 5u);
  EXPECT_FALSE(b.cut_short);
}

TEST(Benchmark, EndsInTheTimeOfTheCaseAndSaysSo) {
  Stream stream(Device{}, 1);
  measured_peaks(stream);  // once per process
  BenchmarkOptions options{.precision = 0, .seconds_per_case = 0.15};
  const auto begin = std::chrono::steady_clock::now();
  const Benchmark b = benchmark_case({.op = &slow, .on = {&slow_cpu}}, 0, stream, -1, options);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(400));
  EXPECT_TRUE(b.cut_short);
  EXPECT_GE(b.samples.size(), 1u);
  EXPECT_LT(b.samples.size(), 10u);
  options.seconds_per_case = 0;
  const Benchmark once = benchmark_case({.op = &slow, .on = {&slow_cpu}}, 0, stream, -1, options);
  EXPECT_TRUE(once.cut_short);
  EXPECT_EQ(once.samples.size(), 1u);
  EXPECT_GE(once.median, 0.02);
}

TEST(Benchmark, TakesFiveSamplesOfShortCallsWithoutTime) {
  Stream stream(Device{}, 1);
  const Benchmark b = benchmark_case({.op = &stepped, .on = {&stepped_cpu}}, 0, stream, -1,
                                     {.precision = 1e9, .seconds_per_sample = 1, .seconds_per_case = 0});
  EXPECT_EQ(b.samples.size(), 5u);
  EXPECT_FALSE(b.cut_short);
}

/// An operator that writes one number of those that there is room for.
struct FoundArgs {
  In x;
  Out found, count;
  std::int64_t room = 1000;

  static constexpr auto fields() {
    using A = FoundArgs;
    return std::array{
        field<&A::x>("x", "n", DTypes::of(DType::f64), "values"),
        field<&A::found>("found", "room 2", DTypes::of(DType::f64), "pairs").counted_by("count"),
        field<&A::count>("count", "", DTypes::of(DType::i64), "how many there are"),
        option<&A::room>("room", 0, 1000, "how many can be kept")};
  }
};

TEST(Benchmark, CountsOutputsAsFarAsTheyWereWritten) {
  static constexpr Case<FoundArgs> cases[] = {{.name = "n=1", .sizes = {{"n", 1}}}};
  static constexpr Definition<FoundArgs> finds{
      {.name = "finds"},
      {.flops = [](const FoundArgs& a) { return double(a.found.size()); }, .cases = cases}};
  static constexpr Impl<FoundArgs> cpu{
      {.launch = [](const FoundArgs& a, Arena, Stream&, int) { *a.count.as<std::int64_t>() = 3; },
       .lay = [](Arena& arena, const FoundArgs&, const Site&) { arena.take<double>(64); }}};
  Stream stream(Device{}, 1);
  const Benchmark b =
      benchmark_case({.op = &finds, .on = {&cpu}}, 0, stream, -1, {.seconds_per_sample = 1e-4});
  EXPECT_EQ(b.cost.bytes_read, 8);
  EXPECT_EQ(b.cost.bytes_written, 3 * 16 + 8) << "three pairs and their number";
  EXPECT_EQ(b.cost.flops, 2000);
  EXPECT_EQ(b.tensor_bytes, 8 + 1000 * 16 + 8) << "memory is needed for all that there is room for";
  EXPECT_EQ(b.workspace_bytes, 512);
}

/// An operator that writes -1 or, with relu, 0.
struct FusedArgs {
  In x;
  Out y;
  Activation activation = Activation::none;

  static constexpr auto fields() {
    using A = FusedArgs;
    return std::array{field<&A::x>("x", "n", DTypes::of(DType::f64), "values"),
                      field<&A::y>("y", "n", DTypes::of(DType::f64), "values"),
                      option<&A::activation>("activation", "applied to the result")};
  }
};
int fused_calls = 0, zeros_found = 0;

TEST(Benchmark, AnActivationThatIsFusedIsAlsoTimedAsAnOperatorOfItsOwn) {
  static constexpr Case<FusedArgs> cases[] = {
      {.name = "relu", .sizes = {{"n", 1}}, .setup = [](FusedArgs& a) { a.activation = Activation::relu; }},
      {.name = "none", .sizes = {{"n", 1}}}};
  static constexpr Definition<FusedArgs> fused{
      {.name = "fused"}, {.flops = [](const FusedArgs&) { return 1.0; }, .cases = cases}};
  static constexpr Impl<FusedArgs> cpu{{.launch = [](const FusedArgs& a, Arena, Stream&, int) {
    EXPECT_EQ(a.activation, Activation::none);
    ++fused_calls, zeros_found += *a.y.as<double>() == 0;
    *a.y.as<double>() = -1;
  }}};
  Stream stream(Device{}, 1);
  const Problem relu(fused, fused.cases()[0], 0), none(fused, fused.cases()[1], 1);
  ASSERT_NE(fused_activation(fused, relu.args()), nullptr);
  EXPECT_EQ(fused_activation(fused, relu.args())->name(), "relu");
  EXPECT_EQ(fused_activation(fused, none.args()), nullptr);
  benchmark_problem({.op = &fused, .on = {&cpu}}, relu, stream, -1,
                    {.seconds_per_sample = 1e-4, .unfused = true});
  EXPECT_GT(fused_calls, 5);
  EXPECT_EQ(zeros_found, fused_calls - 1) << "relu has run after each call but the last";
}

TEST(TimeBudget, PassesOnWhatIsLeft) {
  TimeBudget budget(1000, 10);
  EXPECT_NEAR(budget.next(), 200, 1);
  EXPECT_NEAR(budget.next(), 2000. / 9, 1);
  for (int i = 0; i < 7; ++i) budget.next();
  EXPECT_NEAR(budget.next(), 1000, 1) << "the last may take it all";
  TimeBudget over(0, 3);
  EXPECT_EQ(over.next(), 0);
  EXPECT_LE(over.left(), 0);
}

}  // namespace
}  // namespace kolmo::check
