#include "kolmo/predict/record/training_log.hpp"

#include <gmock/gmock.h>

#include "kolmo/base/error.hpp"
#include "kolmo/predict/forecast/plan.hpp"

namespace kolmo::predict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TrainingLog, GathersStepsIntoBlocksByHand) {
  TrainingLog log(2);
  log.append({.step = 1, .loss = 4, .gradient_norm = 1, .rate = 1});
  log.append({.step = 2, .loss = 2, .gradient_norm = 3, .rate = 3});
  log.append({.step = 3, .loss = 1, .gradient_norm = unknown, .rate = 2});
  log.append({.step = 4, .loss = 2, .gradient_norm = unknown, .rate = 2});
  log.append({.step = 5, .loss = 9, .rate = 2});  // the third block is not full
  EXPECT_THAT(log.blocks().loss, ElementsAre(3, 1.5));
  EXPECT_THAT(log.blocks().gradient_norm, ElementsAre(2, 2));
  EXPECT_THAT(log.blocks().rate, ElementsAre(2, 2));
  EXPECT_THAT(log.blocks().slope, ElementsAre(2, 0));
  EXPECT_THAT(log.blocks().sum, ElementsAre((1 + 4) / 2., (6 + 8) / 2.));
  EXPECT_EQ(log.blocks().end, 4);
}

TEST(TrainingLog, StepsThatAreSkippedHaveTheRateOfTheRowAfterThem) {
  TrainingLog log(2);
  log.append({.step = 0, .loss = 4, .rate = 1});
  log.append({.step = 5, .loss = 2, .rate = 3});  // steps 1 to 5 have rate 3
  EXPECT_THAT(log.blocks().rate, ElementsAre(2, 3, 3));
  EXPECT_THAT(log.blocks().loss, ElementsAre(4, 3, 2));
  EXPECT_DOUBLE_EQ(log.blocks().sum[2], (13 + 16) / 2.);
}

TEST(TrainingLog, GoesBackToACheckpoint) {
  TrainingLog log(2), straight(2);
  for (int step = 1; step <= 9; ++step) log.append({.step = step, .loss = 10. - step, .rate = 1});
  for (int step = 6; step <= 8; ++step) log.append({.step = step, .loss = 1, .rate = .5});
  for (int step = 1; step <= 8; ++step)
    straight.append({.step = step, .loss = step < 6 ? 10. - step : 1, .rate = step < 6 ? 1 : .5});
  EXPECT_EQ(log.blocks().loss, straight.blocks().loss);
  EXPECT_EQ(log.blocks().sum, straight.blocks().sum);
  EXPECT_EQ(log.rows().size(), 8u);
}

TEST(TrainingLog, KnowsLossesThatAreNoNumbers) {
  TrainingLog log(2);
  for (int step = 1; step <= 4; ++step)
    log.append({.step = step, .loss = step == 3 ? INFINITY : step, .rate = 1});
  EXPECT_THAT(log.blocks().loss, ElementsAre(1.5, 4));
  EXPECT_EQ(log.bad_losses(), 1);
  EXPECT_FALSE(log.diverged_since());
  for (int step = 5; step <= 6; ++step) log.append({.step = step, .loss = INFINITY, .rate = 1});
  EXPECT_THAT(log.blocks().loss, ElementsAre(1.5, 4, 4));
  EXPECT_EQ(log.diverged_since(), 5);
}

TEST(TrainingLog, BlocksBeginWithTheFirstLossThatIsKnown) {
  TrainingLog log(2);
  for (int step = 1; step <= 4; ++step) log.append({.step = step, .loss = step < 3 ? unknown : 7, .rate = 1});
  EXPECT_THAT(log.blocks().loss, ElementsAre(7));
  EXPECT_THAT(log.blocks().sum, ElementsAre(3.5));
}

TEST(TrainingLog, BlocksWithoutALossLieOnTheLineBetweenTheirNeighbours) {
  TrainingLog log(2);
  log.append({.step = 1, .loss = 8});
  log.append({.step = 8, .rate = 1});
  EXPECT_THAT(log.blocks().loss, ElementsAre(8, 8, 8, 8)) << "what comes is not known yet";
  log.append({.step = 10, .loss = 4});
  EXPECT_THAT(log.blocks().loss, ElementsAre(8, 7, 6, 5, 4));
  EXPECT_THAT(log.blocks().gaps, ElementsAre(1, 2, 3));
  log.append({.step = 3, .loss = 6});
  log.append({.step = 4, .loss = 6});
  EXPECT_THAT(log.blocks().loss, ElementsAre(8, 6));
  EXPECT_THAT(log.blocks().gaps, ElementsAre());
}

TEST(TrainingLog, SaysWhatIsWrongWithARow) {
  TrainingLog log;
  EXPECT_THROW(log.append({.step = -1}), InvalidArgument);
  EXPECT_THROW(log.append({.step = 1, .rate = -1}), InvalidArgument);
  log.append({.step = 1, .loss = 1, .rate = 1});
  try {
    log.append({.step = 1000000, .loss = 1});
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_THAT(e.what(), HasSubstr("from 1 to 1000000"));
  }
}

TEST(TrainingLog, OfAWholeRunEndsWithAFullBlock) {
  std::vector<LogRow> rows;
  for (int step = 1; step <= 25; ++step) rows.push_back({.step = step, .loss = double(step), .rate = 1});
  const TrainingLog log = log_of(rows);
  EXPECT_THAT(log.blocks().loss, ElementsAre(10.5, 20.5));
  EXPECT_DOUBLE_EQ(log.blocks().sum[0], 10.5);
  std::vector<LogRow> far;
  for (int step = 0; step <= 400; step += 100)
    far.push_back({.step = step, .loss = double(step + 1), .rate = 1});
  const TrainingLog thin = log_of(far);
  EXPECT_EQ(thin.length(), 100);
  EXPECT_THAT(thin.blocks().loss, ElementsAre(101, 201, 301, 401));
}

TEST(Plan, GivesRatesByHand) {
  EXPECT_THAT(Plan::hold().after(5, 2, 3), ElementsAre(2, 2, 2));
  EXPECT_THAT(Plan::decay(6, 2).after(5, 2, 4), ElementsAre(2, 2, 1, 0));
  EXPECT_THAT(Plan::decay(0, 4, DecayShape::sqrt).after(5, 2, 2), ElementsAre(2, 1));
  EXPECT_THAT(Plan::cosine(8).after(4, 1, 5),
              ElementsAre(testing::DoubleNear(.6173165676, 1e-9), testing::DoubleNear(.2928932188, 1e-9),
                          testing::DoubleNear(.0761204675, 1e-9), 0, 0));
  EXPECT_THAT(Plan::rates({3, 1}).after(5, 2, 3), ElementsAre(3, 1, 1));
  EXPECT_THAT(Plan::rates({9, 8, 7}, 5).after(5, 2, 2), ElementsAre(8, 7));
}

TEST(Plan, IsReadAndWritten) {
  for (const char* text : {"hold", "decay@5000:800", "decay@now:500:sqrt", "cosine@20000"})
    EXPECT_EQ(Plan::parse(text).text(), text);
  for (const char* text :
       {"", "decay", "decay@5000", "decay@x:5", "decay@5:0", "decay@5:6:steep", "cosine@-1"})
    EXPECT_THROW(Plan::parse(text), InvalidArgument) << text;
  EXPECT_THROW(Plan::decay(3, 5).after(5, 1, 1), InvalidArgument);
}

TEST(Plan, BlocksGoOnFromTheLogOpenStepsIncluded) {
  TrainingLog log(4), whole(4);
  for (int step = 1; step <= 6; ++step) log.append({.step = step, .loss = 1, .rate = 2});
  const RateBlocks planned = planned_blocks(log, Plan::decay(0, 4), 2);
  for (int step = 1; step <= 12; ++step)
    whole.append({.step = step, .loss = 1, .rate = step <= 6 ? 2 : std::max(0., 2 - .5 * (step - 7))});
  ASSERT_EQ(planned.size(), 2u);
  for (std::size_t b = 0; b < 2; ++b) {
    EXPECT_DOUBLE_EQ(planned.rate[b], whole.blocks().rate[b + 1]);
    EXPECT_DOUBLE_EQ(planned.slope[b], whole.blocks().slope[b + 1]);
    EXPECT_DOUBLE_EQ(planned.sum[b], whole.blocks().sum[b + 1]);
  }
}

}  // namespace
}  // namespace kolmo::predict
