#include "kolmo/predict/model/world_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kolmo/base/error.hpp"
#include "kolmo/op/host_call.hpp"
#include "kolmo/ops/recurrent/gru_sequences/gru_sequences.hpp"
#include "kolmo/predict/forecast/calibrator.hpp"
#include "kolmo/predict/forecast/law.hpp"
#include "kolmo/predict/model/tape.hpp"
#include "kolmo/runtime/stream.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/predict/simulated_runs.hpp"

namespace kolmo::predict {
namespace {
using testing::HasSubstr;

template <class T>
std::vector<T> some_parameters(const MemberSizes& sizes) {
  std::vector<T> p;
  for (std::ptrdiff_t i = 0; i < sizes.count(); ++i) p.push_back(T(0.3 * std::sin(1.7 * double(i) + 0.4)));
  return p;
}
RateBlocks rates_from(const Blocks& run, std::size_t first, std::size_t count) {
  RateBlocks plan;
  for (std::size_t i = first; i < first + count; ++i)
    plan.rate.push_back(run.rate[i]), plan.slope.push_back(run.slope[i]), plan.sum.push_back(run.sum[i]);
  return plan;
}

TEST(LaneFunctions, AgreeWithTheStandardLibrary) {
  // Roundings: k ln 2 is exact, the reduced argument errs by a unit of 0.35, the series by 3.
  for (double x = -80; x < 80; x += 0.037) {
    EXPECT_NEAR(exp_lane(x) / std::exp(x), 1, 4 * 0x1p-52) << x;
    EXPECT_NEAR(exp_lane(float(x)) / std::exp(double(float(x))), 1, 4 * 0x1p-23) << x;
    EXPECT_NEAR(tanh_lane(x), std::tanh(x), 4 * 0x1p-52) << x;
    EXPECT_NEAR(sigmoid_lane(x), 1 / (1 + std::exp(-x)), 4 * 0x1p-52) << x;
  }
  EXPECT_EQ(exp_lane(0.0), 1);
  EXPECT_EQ(tanh_lane(1e6F), 1);
  EXPECT_EQ(sigmoid_lane(-1e6), exp_lane(-708.0));
}

TEST(Member, IsTheGruOfTorch) {
  const MemberSizes sizes{7};
  const int n = sizes.hidden, k = MemberSizes::inputs;
  const auto p = some_parameters<double>(sizes);
  // torch.nn.GRU: rows of r, z, n; the biases of r and z are summed here.
  std::vector<double> ih(std::size_t(3 * n * k)), hh(std::size_t(3 * n * n)), bias_ih(std::size_t(3 * n)),
      bias_hh(std::size_t(3 * n));
  for (int g = 0; g < 3; ++g)  // r, z, n
    for (int i = 0; i < n; ++i) {
      const int in = (g + 1) % 3 * n + i, row = g * n + i;  // the place of the gate among n, r, z
      for (int j = 0; j < k; ++j)
        ih[std::size_t(row * k + j)] = p[std::size_t(sizes.input() + j * 3 * n + in)];
      for (int j = 0; j < n; ++j)
        hh[std::size_t(row * n + j)] = p[std::size_t(sizes.recurrent() + j * 3 * n + row)];
      bias_ih[std::size_t(row)] = p[std::size_t(sizes.bias() + in)];
      bias_hh[std::size_t(row)] = g == 2 ? p[std::size_t(sizes.bias() + 3 * n + i)] : 0;
    }
  std::vector<double> x, h(std::size_t(n), 0.1), states(std::size_t(4 * n)), gates(std::size_t(4 * n)),
      next(h);
  for (int i = 0; i < 4 * k; ++i) x.push_back(std::cos(double(i)));
  Stream s(Device{DeviceKind::cpu});
  call_on_host(gru_forward,
               {.x = tensor(x.data(), {4, k}),
                .h = tensor(h.data(), {n}),
                .weight_ih = tensor(ih.data(), {3 * n, k}),
                .weight_hh = tensor(hh.data(), {3 * n, n}),
                .bias_ih = tensor(bias_ih.data(), {3 * n}),
                .bias_hh = tensor(bias_hh.data(), {3 * n}),
                .states = tensor(states.data(), {4, n})},
               s);
  s.synchronize();
  for (int t = 0; t < 4; ++t, h.swap(next)) {
    Member<double>{sizes, p.data()}.cell<1>(x.data() + t * k, h.data(), gates.data(), next.data());
    for (int i = 0; i < n; ++i) EXPECT_NEAR(next[std::size_t(i)], states[std::size_t(t * n + i)], 1e-14);
  }
}

TEST(Tape, HasTheGradientOfItsLoss) {
  const auto runs = simulated::runs(3, 400);
  const Windows windows(simulated::pointers(runs));
  const MemberSizes sizes{9};
  auto p = some_parameters<double>(sizes);
  const std::vector<Place> places{{0, 0}, {1, 7}, {2, 15}};
  Tape<double> tape(windows, sizes);
  const auto loss = [&](double* gradient) {
    std::vector<double> unused(p.size());
    return tape.add_gradient({sizes, p.data()}, places, 12, 5, 0.15, gradient ? gradient : unused.data());
  };
  std::vector<double> gradient(p.size());
  const double here = loss(gradient.data());
  EXPECT_GT(here, 0);
  // The loss is smooth but for the second derivative of the Huber loss; differences err by 1e-6 of it and 1e-16 / d.
  constexpr double d = 1e-6;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double old = p[i];
    p[i] = old + d;
    const double up = loss(nullptr);
    p[i] = old - d;
    const double down = loss(nullptr);
    p[i] = old;
    ASSERT_NEAR(gradient[i], (up - down) / (2 * d), 1e-6) << "parameter " << i;
  }
}

TEST(WorldModel, IsTheSameWhateverTheThreadsAndAnotherWithAnotherSeed) {
  const auto runs = simulated::runs(6);
  TrainingOptions options{.members = 3, .hidden = 8, .epochs = 2, .threads = 1};
  const WorldModel one = WorldModel::train(simulated::pointers(runs), options);
  options.threads = 2;
  const WorldModel two = WorldModel::train(simulated::pointers(runs), options);
  EXPECT_EQ(one.members(), two.members());
  ASSERT_EQ(one.residuals().size(), std::size_t(ahead));
  for (std::size_t h = 0; h < std::size_t(ahead); ++h) {
    ASSERT_EQ(one.residuals()[h].size(), two.residuals()[h].size());
    EXPECT_FALSE(one.residuals()[h].empty());
    for (std::size_t i = 0; i < one.residuals()[h].size(); ++i)
      EXPECT_EQ(one.residuals()[h][i].error, two.residuals()[h][i].error);
  }
  options.seed = 1;
  EXPECT_NE(WorldModel::train(simulated::pointers(runs), options).members(), one.members());
  EXPECT_NE(one.members()[0], one.members()[1]);
}

TEST(WorldModel, InFloatStaysWithin1e5OfDoubleOver50Steps) {
  const auto runs = simulated::runs(6);
  const Windows windows(simulated::pointers(runs));
  TrainingOptions options{.hidden = 16};
  options.most_updates = 50;
  const auto single = train_member<float>(windows, options, 0);
  const auto twice = train_member<double>(windows, options, 0);
  const MemberSizes sizes{16};
  for (const std::size_t seen : {12, 30, 45}) {
    const RateBlocks plan = rates_from(runs[1], seen, 5);
    const auto got = roll_out<float>({sizes, single.data()}, {runs[1], seen}, {&plan, 1});
    const auto want = roll_out<double>({sizes, twice.data()}, {runs[1], seen}, {&plan, 1});
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(got[0][i], want[0][i], 1e-5) << seen << " blocks, " << i;
  }
}

TEST(WorldModel, LearnsOnADeviceWithin1e5OfTheReferenceInDouble) {
  const Device device{DeviceKind::simt};
  if (!available(device)) GTEST_SKIP() << "no emulated GPU";
  const auto trained = [&]<class T>(T, const Windows& windows, std::int64_t updates, Device on) {
    TrainingOptions options{.hidden = 6, .epochs = 1000, .device = on};
    options.most_updates = updates;
    return train_member<T>(windows, options, 0);
  };
  // Two windows, which end after their runs; and 64 of the 66 that there are.
  const auto few = simulated::runs(2, 350), many = simulated::runs(22, 700);
  const Windows two(simulated::pointers(few)), all(simulated::pointers(many));
  const auto reference = trained(0., two, 50, {});
  const auto got = trained(0.F, two, 50, device);
  EXPECT_THAT(got, testing::Pointwise(testing::DoubleNear(1e-5), reference));
  // The same in double: the order of sums changes the last bits of gradients, and AdamW's steps are 6e-3 at most.
  EXPECT_THAT(trained(0., all, 3, device),
              testing::Pointwise(testing::DoubleNear(1e-12), trained(0., all, 3, {})));
  const auto before = trained(0., two, 0, {});
  double moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) moved = std::max(moved, std::abs(reference[i] - before[i]));
  EXPECT_GT(moved, 0.05) << "something was learned";
}

TEST(WorldModel, OfADeviceForecastsAsThatOfTheCpu) {
  const Device device{DeviceKind::simt};
  if (!available(device)) GTEST_SKIP() << "no emulated GPU";
  const auto runs = simulated::runs(2, 350);
  TrainingOptions options{.members = 2, .hidden = 4, .epochs = 2};
  const WorldModel on_cpu = WorldModel::train(simulated::pointers(runs), options);
  options.device = device;
  const WorldModel on_device = WorldModel::train(simulated::pointers(runs), options);
  const RateBlocks plan = rates_from(runs[1], 25, 5);
  const Prediction want = on_cpu.predict({runs[1], 25}, plan), got = on_device.predict({runs[1], 25}, plan);
  EXPECT_THAT(got.centres, testing::Pointwise(testing::DoubleNear(1e-5), want.centres));
  EXPECT_NE(on_device.members(), on_cpu.members()) << "sums are taken in another order";
}

TEST(WorldModel, LeansOnTheLagLawWhereItsMembersDiffer) {
  const auto runs = simulated::runs(2);
  const Seen seen{runs[1], 30};
  const RateBlocks plan = rates_from(runs[1], 30, 2);
  const auto a = some_parameters<float>({8});
  auto b = a;
  b.back() += .5F;  // the bias of the output
  const WorldModel model(8, {a, b}, {});
  const auto said = model.rollouts(seen, {&plan, 1})[0];
  const std::vector<double> law =
      fit_law(seen, LawTerms::lag).after(plan, seen.blocks.length).logs(seen.loss()[29]);
  const Prediction got = model.predict(seen, plan);
  double distance = 0, variance = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const double mean = (said[0][i] + said[1][i]) / 2, apart = said[1][i] - said[0][i];
    EXPECT_GT(apart, .04);
    distance += std::pow(mean - law[i], 2), variance += apart * apart / 2;
    const double share = distance / (distance + 8 * variance);
    EXPECT_NEAR(got.centres[i], share * mean + (1 - share) * law[i], 1e-12);
    EXPECT_NEAR(got.spread[i], apart / std::sqrt(2.), 1e-12);
    EXPECT_NEAR(error_unit(.3, got, i), std::sqrt(.09 + 9 * apart * apart / 2), 1e-12);
  }
  // Members that agree are believed, and so is a single one.
  const auto alone = model.rollouts(seen, {&plan, 1})[0][0];
  for (const std::size_t members : {1, 2}) {
    const Prediction sure = WorldModel(8, std::vector(members, a), {}).predict(seen, plan);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(sure.centres[i], alone[i], 1e-12);
      EXPECT_EQ(sure.spread[i], 0);
    }
  }
}

TEST(WorldModel, AnswersManyPlansAsItAnswersEach) {
  const auto runs = simulated::runs(4);
  const WorldModel model =
      WorldModel::train(simulated::pointers(runs), {.members = 2, .hidden = 8, .epochs = 2});
  std::vector<RateBlocks> plans;
  for (int i = 0; i < 35; ++i) {
    plans.push_back(rates_from(runs[0], 20, 10));
    for (std::size_t j = 0; j < 10; ++j) plans.back().rate[j] *= 1 / (1 + 0.1 * i * double(j));
  }
  const auto all = model.rollouts({runs[1], 20}, plans);
  ASSERT_EQ(all.size(), plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i)
    EXPECT_EQ(all[i], model.rollouts({runs[1], 20}, {&plans[i], 1})[0]);
  EXPECT_NE(all[0], all[34]);
}

TEST(WorldModel, LearnsWhatADecayDoes) {
  const auto runs = simulated::runs(24);
  const WorldModel model =
      WorldModel::train(simulated::pointers(runs), {.members = 2, .hidden = 24, .epochs = 800});
  const simulated::Run held{.steps = 600, .decay = 400, .amplitude = 2.5, .seed = 99};
  const Blocks run = held.blocks();
  const Seen seen{run, 40};
  const double last = std::log(run.loss[39]), real = std::log(run.loss[49]);
  RateBlocks hold = rates_from(run, 30, 10);
  const double decayed = model.centres(seen, rates_from(run, 40, 10)).back(),
               held_rate = model.centres(seen, hold).back();
  EXPECT_LT(real, last - 0.15);
  EXPECT_NEAR(decayed, real, 0.05) << "the decay that came";
  EXPECT_NEAR(held_rate, last, 0.05) << "no decay";
}

TEST(WorldModel, RefusesWhatCannotBe) {
  const auto runs = simulated::runs(2, 100);
  const auto message = [&](TrainingOptions o) {
    return testing_io::message_of<InvalidArgument>([&] { WorldModel::train(simulated::pointers(runs), o); });
  };
  EXPECT_THAT(message({}), HasSubstr("no training has 20 blocks"));
  EXPECT_THAT(message({.members = 0}), HasSubstr("members must be from 1 to 64"));
  EXPECT_THAT(message({.hidden = 2000}), HasSubstr("hidden must be from 4 to 1024"));
  EXPECT_THAT(testing_io::message_of<InvalidArgument>([] {
                WorldModel(8, {{1, 2}}, {});
              }),
              HasSubstr("has 2 parameters"));
}

}  // namespace
}  // namespace kolmo::predict
