#include "kolmo/flow/infer/transfer_entropy_windows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/flow/test_series.hpp"
#include "tests/sim/simulated_device.hpp"

namespace kolmo {
namespace {

using namespace testing_flow;
using testing::HasSubstr;

/// Windows over columns 2 and 0 of a table with three columns, where column 2 drives column 0 at lag 1.
class Windows : public testing::Test {
 protected:
  Windows() {
    auto x = std::vector{normals(3, 0, rows), normals(3, 1, rows), normals(3, 2, rows)};
    for (std::size_t t = 1; t < rows; ++t) x[0][t] += 0.9 * x[2][t - 1];
    table_ = table_of(x);
    options_.window = 60, options_.step = 20;
    options_.estimator.surrogates = 9;
  }
  void run(Device device, PipelineOptions pipeline = {}) {
    TransferEntropyWindows windows(table_, columns, options_, device, pipeline,
                                   [&](const WindowResult& r) { results_.push_back(r); });
    for (std::size_t t = 0; t < rows; ++t)
      refused_ += !windows.add(std::array{table_.columns[2][t], table_.columns[0][t]});
    windows.drain();
    report_ = windows.report();
  }
  Estimates alone(const WindowResult& r) const {
    const std::string range = std::to_string(r.first) + ":" + std::to_string(r.last + 1);
    const Series series = make_series(select_rows(table_, range), columns, options_.preparation);
    Stream stream;
    return estimate(series, transfer_entropy_task(series, 0, 1, {}, {}, {}, 1), options_.estimator, stream);
  }

  static constexpr std::size_t rows = 160;
  static constexpr std::array<std::size_t, 2> columns{2, 0};
  Table table_;
  WindowOptions options_;
  std::vector<WindowResult> results_;
  PipelineReport report_;
  int refused_ = 0;
};

TEST_F(Windows, AreEstimatedByThemselves) {
  for (const Device device : {Device{}, SimulatedDevice::make().device()}) {
    results_.clear();
    run(device);
    ASSERT_EQ(results_.size(), 6u);
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const WindowResult& r = results_[i];
      EXPECT_EQ(r.first, std::int64_t(20 * i));
      EXPECT_EQ(r.last, r.first + 59);
      EXPECT_EQ(r.samples, 59);
      EXPECT_EQ(r.value, alone(r).observed(0));
      EXPECT_EQ(r.p_value, p_value(r.value, alone(r).surrogate(0), PValue::plus_one));
      EXPECT_GT(r.value, 0.1);
      EXPECT_EQ(r.error, "");
    }
  }
}

TEST_F(Windows, OneThatCannotBeEstimatedSaysWhyInItsTurn) {
  for (std::size_t t = 60; t < 120; ++t) table_.columns[2][t] = std::numeric_limits<double>::quiet_NaN();
  run({});
  ASSERT_EQ(results_.size(), 6u);
  for (std::size_t i = 0; i < results_.size(); ++i) EXPECT_EQ(results_[i].first, std::int64_t(20 * i));
  EXPECT_EQ(results_[0].error, "");
  EXPECT_THAT(results_[3].error, HasSubstr("no row has a value"));
  EXPECT_TRUE(std::isnan(results_[3].value));
  EXPECT_EQ(results_[1].samples, 39) << "the rows before the gap";
}

TEST_F(Windows, AreDroppedWhenTheDeviceIsTooSlowAndToldSo) {
  SimulatedDevice& device = SimulatedDevice::make();  // its clock does not advance while rows arrive
  run(device.device(),
      {.slots = 2, .queue = 1, .backpressure = Backpressure::drop_oldest, .own_threads = false});
  ASSERT_EQ(results_.size(), 6u);
  std::vector<std::int64_t> dropped;
  for (const WindowResult& r : results_)
    if (r.outcome == PipelineOutcome::dropped) dropped.push_back(r.first);
  EXPECT_THAT(dropped, testing::ElementsAre(40, 60, 80));
  EXPECT_EQ(report_.dropped, 3u);
  results_.clear();
  run(SimulatedDevice::make().device(),
      {.slots = 2, .queue = 1, .backpressure = Backpressure::reject, .own_threads = false});
  EXPECT_EQ(refused_, 3);
  EXPECT_EQ(results_.size(), 3u);
}

TEST_F(Windows, KeepTheirErrorWhenTheDeviceIsLost) {
  SimulatedDevice& device = SimulatedDevice::make();
  device.fail_work(5);
  EXPECT_THROW(run(device.device(), {.slots = 2, .queue = 1, .own_threads = false}), DeviceError);
  ASSERT_GE(results_.size(), 3u);
  for (const WindowResult& r : results_)
    if (r.outcome == PipelineOutcome::failed) {
      EXPECT_THAT(r.error, HasSubstr("was lost"));
    }
  EXPECT_EQ(results_.back().outcome, PipelineOutcome::failed);
}

TEST_F(Windows, RowsHaveEveryColumn) {
  TransferEntropyWindows windows(table_, columns, options_, {}, {}, [](auto&) {});
  EXPECT_THROW(windows.add(std::array{1.}), InvalidArgument);
  options_.window = 1;
  EXPECT_THROW(TransferEntropyWindows(table_, columns, options_, {}, {}, [](auto&) {}), InvalidArgument);
}

}  // namespace
}  // namespace kolmo
