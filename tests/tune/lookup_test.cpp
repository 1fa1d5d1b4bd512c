#include "kolmo/tune/lookup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kolmo/check/verifier.hpp"
#include "kolmo/op/chooser.hpp"
#include "kolmo/op/source_hash.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"
#include "kolmo/ops/info/histogram_2d/histogram_2d.hpp"
#include "kolmo/ops/nn/softmax/softmax.hpp"
#include "kolmo/runtime/metrics.hpp"
#include "kolmo/tune/call.hpp"
#include "kolmo/tune/drift.hpp"
#include "kolmo/tune/tune_call.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/sim/simulated_measurer.hpp"

namespace kolmo::tune {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// A product of a 40 x 50 and a 50 x 60 matrix.
struct Product {
  std::vector<double> a = std::vector<double>(40 * 50, 1), b = std::vector<double>(50 * 60, 1),
                      y = std::vector<double>(40 * 60);
  MatmulArgs args{
      .a = tensor(a.data(), {40, 50}), .b = tensor(b.data(), {50, 60}), .y = tensor(y.data(), {40, 60})};
};

class LookupTest : public testing::Test {
 protected:
  ~LookupTest() override { stop_using(); }

  static Key key(const void* args) {
    const CallReader reader(matmul);
    return reader.key(reader.read(args, 2), source_hash("matmul", DeviceKind::cpu));
  }
  static int naive() {
    const auto rows = entry_of(matmul).variants(DeviceKind::cpu);
    for (std::size_t v = 0; v < rows.size(); ++v)
      if (rows[v].naive) return int(v);
    return -1;
  }
  /// Makes a profile in which row `winner` with one thread won.
  static Profile profile(Key key, int winner) {
    const Space space({{"variant", {0, 1}}, {"threads", {1, 0}}});
    std::vector<double> times(4, 3e-6);
    times[std::size_t(2 * winner)] = 1e-6;
    SimulatedMeasurer m(times, {}, 1);
    TuneOptions o;
    o.standard = 1;
    Profile p = make_profile(std::move(key), space, tune("matmul", space, m, o));
    name_variants(p, entry_of(matmul), DeviceKind::cpu);
    return p;
  }
  static Environment here(const std::string& driver = "") {
    Environment e = environment_of(Device{}, "stream_hot");
    e.driver = driver;
    return e;
  }
  static double lookups(const char* result) {
    return metrics::counter("kolmo_tuner_lookups_total", {{"kernel", "matmul"}, {"result", result}}).value();
  }

  testing_io::TemporaryFolder folder_;
  Store store_{folder_ / "store"};
  const Device cpu_[1] = {Device{}};
  Product product_;
};

TEST_F(LookupTest, TheKeyHoldsWhatMatters) {
  const Key k = key(&product_.args);
  EXPECT_EQ(k.kernel, "matmul");
  EXPECT_EQ(k.dtype, "f64");
  EXPECT_EQ(k.extras.at("threads"), "2");
  EXPECT_EQ(k.extras.at("option activation"), "none");
  EXPECT_FALSE(k.extras.contains("option alpha")) << "a real number does not decide the speed";
  const CallReader reader(matmul);
  EXPECT_EQ(reader.key(*reader.numbers(k), k.kernel_hash), k) << "there and back";
  Key other = k;
  other.dims.pop_back();
  EXPECT_FALSE(reader.numbers(other));
  other = k;
  other.extras["option activation"] = "unheard of";
  EXPECT_FALSE(reader.numbers(other));
}

TEST_F(LookupTest, SizesOfOneBucketShareAKey) {
  const CallReader reader(histogram_2d);
  std::vector<double> x(1000);
  Histogram2dArgs a{.x = tensor(x.data(), {900}), .y = tensor(x.data(), {900})};
  Histogram2dArgs b{.x = tensor(x.data(), {1000}), .y = tensor(x.data(), {1000})};
  Histogram2dArgs c{.x = tensor(x.data(), {800}), .y = tensor(x.data(), {800})};
  const auto key = [&](const Histogram2dArgs& args) { return reader.key(reader.read(&args, 1), "").id(); };
  EXPECT_EQ(key(a), key(b));
  EXPECT_NE(key(a), key(c));
}

struct AxisArgs {
  In x;
  Out y;
  std::optional<std::int64_t> axis;
  static constexpr auto fields() {
    return std::array{field<&AxisArgs::x>("x", "...", reals, "input"),
                      field<&AxisArgs::y>("y", "...", reals, "output"),
                      option<&AxisArgs::axis>("axis", -8, 7, "none: all")};
  }
};
constinit const Definition<AxisArgs> along_axis{{.name = "along_axis"}, {}};

TEST_F(LookupTest, AnOptionalIntegerIsNoneOrANumber) {
  const CallReader reader(along_axis);
  std::vector<double> x(10);
  AxisArgs a{.x = tensor(x.data(), {10}), .y = tensor(x.data(), {10})};
  std::set<std::string> texts;
  for (const std::optional<std::int64_t> axis : {std::optional<std::int64_t>(), {-2}, {-1}, {0}, {1}}) {
    a.axis = axis;
    const CallNumbers numbers = reader.read(&a, 1);
    const Key k = reader.key(numbers, "");
    texts.insert(k.extras.at("option axis"));
    EXPECT_EQ(reader.key(*reader.numbers(k), ""), k) << "there and back";
    AxisArgs b;
    set_options(along_axis, shape_of_call(along_axis, &a, Device{}), &b);
    EXPECT_EQ(b.axis, axis);
  }
  EXPECT_EQ(texts, (std::set<std::string>{"none", "-2", "-1", "0", "1"}));
}

TEST_F(LookupTest, ACallRunsAsTheStoreSays) {
  store_.put(here(), profile(key(&product_.args), naive()));
  EXPECT_EQ(use(store_, cpu_, "stream_hot"), 1u);
  const double hits = lookups("hit");
  const Choice c = look_up(matmul, &product_.args, Device{}, 2);
  EXPECT_EQ(c.options.variant, naive());
  EXPECT_EQ(c.options.threads, 1);
  EXPECT_EQ(c.origin, Origin::exact);
  EXPECT_FALSE(c.stale);
  EXPECT_EQ(lookups("hit"), hits + 1);
  Stream stream(Device{}, 2);
  matmul(product_.args, stream);
  EXPECT_EQ(lookups("hit"), hits + 2) << "run() asks";
  EXPECT_DOUBLE_EQ(product_.y[0], 50);
  matmul(product_.args, stream, {.variant = 0});
  EXPECT_EQ(lookups("hit"), hits + 2) << "but not when it is told";
  EXPECT_THAT(missed(), IsEmpty());
}

TEST_F(LookupTest, OtherCallsAreMissesOnce) {
  use(store_, cpu_, "stream_hot");
  const double misses = lookups("miss");
  Stream stream(Device{}, 2);
  for (int i = 0; i < 3; ++i) matmul(product_.args, stream);
  EXPECT_EQ(lookups("miss"), misses + 3);
  ASSERT_THAT(missed(), SizeIs(1));
  EXPECT_EQ(missed()[0].key, key(&product_.args));
  EXPECT_EQ(record_misses(store_), 1u);
  const auto listed = store_.misses(environment_of(Device{}, "stream_hot"));
  ASSERT_THAT(listed, SizeIs(1));
  EXPECT_EQ(listed[0].key, key(&product_.args));
  EXPECT_EQ(listed[0].call.sizes, (std::map<std::string, std::int64_t>{
                                      {"...", 1}, {"a0", 40}, {"a1", 50}, {"b0", 50}, {"b1", 60}}));
}

TEST_F(LookupTest, ForeignResultsAreUsedAndCounted) {
  store_.put(here("an older driver"), profile(key(&product_.args), naive()));
  use(store_, cpu_, "stream_hot");
  const double foreign = lookups("foreign");
  EXPECT_EQ(look_up(matmul, &product_.args, Device{}, 2).origin, Origin::foreign);
  EXPECT_EQ(lookups("foreign"), foreign + 1);
}

TEST_F(LookupTest, ResultsForOtherSourcesAreNot) {
  Key k = key(&product_.args);
  k.kernel_hash = "of other sources";
  store_.put(here(), profile(k, naive()));
  EXPECT_EQ(use(store_, cpu_, "stream_hot"), 0u);
  EXPECT_EQ(look_up(matmul, &product_.args, Device{}, 2).origin, Origin::none);
}

TEST_F(LookupTest, AnImpossibleConfigurationIsNotUsed) {
  Profile p = profile(key(&product_.args), naive());
  p.configs[p.winner].variant = "a row of another version";
  store_.put(here(), p);
  EXPECT_EQ(use(store_, cpu_, "stream_hot"), 0u);
  p.configs[p.winner].variant = "naive", p.configs[p.winner].params = {{"block", 3}};
  store_.put(here(), p);
  EXPECT_EQ(use(store_, cpu_, "stream_hot"), 0u);
}

TEST_F(LookupTest, SlowerThanTunedIsStale) {
  store_.put(here(), profile(key(&product_.args), naive()));
  const std::uint64_t before = epoch();
  use(store_, cpu_, "stream_hot");
  EXPECT_NE(epoch(), before);
  const std::uint64_t call = look_up(matmul, &product_.args, Device{}, 2).call;
  const double stale = lookups("stale");
  for (int i = 0; i < 100; ++i) observe(call, 1.0e-6);
  EXPECT_FALSE(look_up(matmul, &product_.args, Device{}, 2).stale);
  for (int i = 0; i < 100; ++i) observe(call, 1.2e-6);
  EXPECT_TRUE(look_up(matmul, &product_.args, Device{}, 2).stale);
  EXPECT_EQ(lookups("stale"), stale + 1);
  ASSERT_THAT(missed(), SizeIs(1));
  EXPECT_TRUE(missed()[0].stale);
  record_misses(store_);
  EXPECT_TRUE(store_.get(here(), key(&product_.args))->stale);
  EXPECT_FALSE(fresh(matmul, &product_.args, Stream(Device{}, 2), Mode::stream_hot, store_));
}

TEST_F(LookupTest, ExpiredIsStale) {
  Profile p = profile(key(&product_.args), naive());
  p.expires = 1000;
  store_.put(here(), p);
  use(store_, cpu_, "stream_hot");
  EXPECT_TRUE(look_up(matmul, &product_.args, Device{}, 2).stale);
}

TEST_F(LookupTest, TheStartUpWindowTunesWhatIsMissing) {
  Stream stream(Device{}, 2);
  const PlannedCall calls[] = {{matmul.operator->(), &product_.args}};
  CallOptions o;
  o.search.budget = 60, o.measure.warm_up = 0;
  EXPECT_EQ(tune_at_startup(calls, stream, store_, 60, o), 1u);
  EXPECT_TRUE(fresh(matmul, &product_.args, stream, Mode::stream_hot, store_));
  EXPECT_EQ(look_up(matmul, &product_.args, Device{}, 2).origin, Origin::exact);
  EXPECT_EQ(tune_at_startup(calls, stream, store_, 60, o), 0u) << "nothing is left to do";
  EXPECT_EQ(tune_at_startup({calls, 1}, stream, store_, 0, o), 0u) << "and no time, no tuning";
  EXPECT_THROW(capture(stream, [&] { tune_call(matmul, &product_.args, stream); }), InvalidArgument);
}

TEST_F(LookupTest, TheStartUpWindowAsksTheOracleOfEachOperator) {
  Stream stream(Device{}, 2);
  std::vector<double> x(1000), y(1000);
  const SoftmaxArgs softmax_args{.x = tensor(x.data(), {10, 100}), .y = tensor(y.data(), {10, 100})};
  const PlannedCall calls[] = {{matmul.operator->(), &product_.args}, {softmax.operator->(), &softmax_args}};
  std::set<std::string_view> asked;
  CallOptions o;
  o.search.budget = 60, o.measure.warm_up = 0;
  o.verify = [&, by_oracle = check::by_oracle(stream)](const OpBase& op, const void* args,
                                                       const RunOptions& configuration) {
    asked.insert(op.name);
    return by_oracle(op, args, configuration);
  };
  EXPECT_EQ(tune_at_startup(calls, stream, store_, 60, o), 2u);
  EXPECT_EQ(asked, (std::set<std::string_view>{"matmul", "softmax"}));
  const auto p = store_.get(environment_of(Device{}, "stream_hot"), key(&product_.args));
  ASSERT_TRUE(p);
  EXPECT_EQ(p->winning().finding.verified, "within tolerance");
}

TEST(Drift, TheAlarmNeedsThirtySamplesAndTenPercent) {
  Drift d(1e-3);
  for (int i = 0; i < 29; ++i) EXPECT_FALSE(d.add(2e-3));
  EXPECT_FALSE(d.stale());
  EXPECT_TRUE(d.add(2e-3));
  EXPECT_TRUE(d.stale());
  EXPECT_FALSE(d.add(2e-3)) << "once";
  EXPECT_NEAR(d.ratio(), 2, 1e-9);
  Drift calm(1e-3);
  for (int i = 0; i < 1000; ++i) calm.add(i % 2 ? 1.15e-3 : 1.0e-3);
  EXPECT_FALSE(calm.stale());
  EXPECT_NEAR(calm.ratio(), 1.075, 0.01);
  EXPECT_GT(calm.variance(), 0);
  calm.add(-1), calm.add(NAN);
  EXPECT_EQ(calm.samples(), 1000u);
}

}  // namespace
}  // namespace kolmo::tune
