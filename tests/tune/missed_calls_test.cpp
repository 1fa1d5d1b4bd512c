// For every call of the catalogue that has no configuration, a call like it can be made up and tuned under
// the same key; then the configuration is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "kolmo/check/placement.hpp"
#include "kolmo/check/recalled.hpp"
#include "kolmo/op/source_hash.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"
#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"
#include "kolmo/tune/call.hpp"
#include "kolmo/tune/lookup.hpp"
#include "kolmo/tune/tune_call.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/sim/simulated_measurer.hpp"

namespace kolmo::tune {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// Makes a profile of a call whose default was found best.
Profile decided(const OpBase& op, const void* args, const Stream& stream, const Key& key) {
  const CallSpace space(op, args, stream);
  std::vector<double> times(space.space().size(), 2e-6);
  times[space.standard()] = 1e-6;
  SimulatedMeasurer measurer(times, {}, 1);
  TuneOptions options;
  options.standard = space.standard();
  Profile p = make_profile(key, space.space(), tune(op.name, space.space(), measurer, options));
  name_variants(p, entry_of(op), stream.device().kind);
  return p;
}

class MissedCalls : public testing::TestWithParam<Device> {
 protected:
  ~MissedCalls() override { stop_using(); }

  void use_store() {
    const Device devices[] = {stream_.device()};
    use(store_, devices, mode_);
  }
  Choice ask(const OpBase& op, const void* args) {
    const bool on_cpu = stream_.device().kind == DeviceKind::cpu;
    return look_up(op, args, stream_.device(), on_cpu ? stream_.threads() : 0);
  }
  void expect_tuned_and_found(const OpBase& op, const check::Problem& problem) {
    check::Placement placed(problem, stream_);
    use_store();
    ask(op, placed.args());
    ASSERT_THAT(missed(), SizeIs(1));
    ASSERT_EQ(record_misses(store_), 1u);
    const Environment here = environment_of(stream_.device(), mode_);
    const auto misses = store_.misses(here);
    ASSERT_THAT(misses, SizeIs(1)) << "with sizes and options, after writing and reading";
    const check::Recalled recalled(op, misses[0].call);
    check::Placement again(recalled.problem(), stream_);
    const CallReader reader(op);
    const int threads = stream_.device().kind == DeviceKind::cpu ? stream_.threads() : 0;
    const Key key =
        reader.key(reader.read(again.args(), threads), source_hash(op.name, stream_.device().kind));
    ASSERT_EQ(key, misses[0].key);
    run(op, again.args(), stream_);
    EXPECT_NO_THROW(stream_.synchronize()) << "its inputs are valid";
    store_.put(here, decided(op, again.args(), stream_, key));
    store_.remove_miss(here, key);
    use_store();
    EXPECT_EQ(ask(op, placed.args()).origin, Origin::exact);
    EXPECT_THAT(missed(), IsEmpty());
  }

  testing_io::TemporaryFolder folder_;
  Store store_{folder_ / "store"};
  Stream stream_{GetParam(), GetParam().kind == DeviceKind::cpu ? 2 : 0};
  const std::string mode_{to_string(default_mode(GetParam().kind))};
};

TEST_P(MissedCalls, OfEveryOperatorAreTunedAndThenFound) {
  for (const OpEntry& entry : all_ops()) {
    std::set<std::string_view> optional;  // one case for each set of optional tensors
    const auto cases = entry.op->cases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const CaseInfo& info = cases[i];
      if (info.benchmark_only || !entry.has(info) || !entry.impl(stream_.device().kind)) continue;
      if (!optional.insert(info.optional).second) continue;
      SCOPED_TRACE(std::string(entry.name()) + ", " + std::string(info.name));
      expect_tuned_and_found(*entry.op, check::Problem(*entry.op, info, i));
    }
  }
}

TEST_P(MissedCalls, TakeTheConfigurationOfANeighbour) {
  const auto product = [](std::int64_t n, bool bias) {
    CallShape call{{{"T", DType::f64}}, {{"a0", n}, {"a1", n}, {"b0", n}, {"b1", n}}, {}, {}};
    if (bias) call.given = {"bias"}, call.sizes["n"] = n;
    return check::Recalled(*matmul.operator->(), std::move(call));
  };
  const auto origin = [&](std::int64_t n, bool bias = false) {
    const check::Recalled call = product(n, bias);
    check::Placement placed(call.problem(), stream_);
    return ask(matmul, placed.args()).origin;
  };
  const check::Recalled known = product(32, false);
  check::Placement placed(known.problem(), stream_);
  use_store();
  ask(matmul, placed.args());
  ASSERT_THAT(missed(), SizeIs(1));
  store_.put(environment_of(stream_.device(), mode_),
             decided(matmul, placed.args(), stream_, missed()[0].key));
  use_store();
  EXPECT_EQ(origin(32), Origin::exact);
  EXPECT_EQ(origin(100), Origin::neighbour) << "within a factor of 4 of 32, after buckets";
  EXPECT_EQ(origin(100), Origin::neighbour) << "again";
  EXPECT_EQ(origin(8), Origin::neighbour);
  EXPECT_EQ(origin(200), Origin::none);
  EXPECT_EQ(origin(32, true), Origin::none) << "with a bias it is another kernel";
  EXPECT_THAT(missed(), SizeIs(4)) << "a call with a neighbour may still be tuned by itself";
}

/// Lists the CPU, the emulated GPU and a GPU, as far as this build and machine have them.
std::vector<Device> all_devices() {
  std::vector<Device> devices{Device{}};
  for (const DeviceKind kind : {DeviceKind::simt, DeviceKind::cuda})
    if (available({kind})) devices.push_back({kind});
  return devices;
}
INSTANTIATE_TEST_SUITE_P(Device, MissedCalls, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return to_string(info.param).substr(0, 4); });

TEST(TuningKey, HoldsWhatMattersForTheSpeedOfAnAnalysis) {
  CallShape call{{{"T", DType::f64}},
                 {{"b", 3}, {"n", 500}, {"dx", 1}, {"dy", 1}, {"dz", 2}, {"t1", 4}, {"t", 3}},
                 {"z", "time", "segments", "streams"},
                 {{"surrogates", "100"}, {"surrogate_type", "circular"}, {"min_shift", "17"}}};
  const OpBase& op = *ksg_conditional_mutual_information.operator->();
  const CallReader reader(op);
  const auto key = [&] {
    const check::Recalled made(op, call);
    return reader.key(reader.read(made.problem().args(), 2), "");
  };
  const Key k = key();
  EXPECT_EQ(k.extras.at("given z"), "true");
  EXPECT_EQ(k.extras.at("given segments"), "true");
  EXPECT_EQ(k.extras.at("option surrogate_type"), "circular");
  EXPECT_FALSE(k.extras.contains("given streams"));
  EXPECT_FALSE(k.extras.contains("option min_shift"));
  call.options["min_shift"] = "5", call.given = {"z", "segments"};
  EXPECT_EQ(key(), k) << "times, streams and the shortest shift hardly change the time";
  call.sizes["dz"] = 1;
  EXPECT_NE(key(), k) << "the columns of a condition do";
}

}  // namespace
}  // namespace kolmo::tune
