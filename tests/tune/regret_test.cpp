// Tests the quality and stability of the tuner's choices on kernels whose times are all known: modelled ones
// and recorded ones (bench/recorded_spaces.json). Runs on a virtual clock, with noise, outliers and drift.
#include <gtest/gtest.h>

#include <cmath>

#include "bench/modelled_kernels.hpp"
#include "kolmo/tune/statistics.hpp"
#include "kolmo/tune/tune.hpp"
#include "tests/paths.hpp"
#include "tests/sim/simulated_measurer.hpp"

namespace kolmo::tune {
namespace {

constexpr int repeats = 5;

struct Outcome {
  std::vector<double> regrets, seconds, samples;
  double flips = 0, pairs = 0;
};

Outcome tune_all(const std::vector<modelled::Kernel>& kernels, const std::string& strategy,
                 double budget = 30) {
  Outcome all;
  for (const auto& k : kernels) {
    std::vector<double> chosen;
    for (int r = 0; r < repeats; ++r) {
      SimulatedMeasurer m(k.seconds, {}, std::uint64_t(r + 1));
      TuneOptions o;
      o.strategy = strategy, o.budget = budget, o.seed = std::uint64_t(r + 1);
      const Tuning t = tune(k.name, k.space, m, o);
      all.regrets.push_back(m.regret(t.winner));
      all.seconds.push_back(t.seconds), all.samples.push_back(double(t.samples));
      chosen.push_back(k.seconds[t.winner]);
    }
    for (int i = 0; i < repeats; ++i)  // choices within 2 % of each other count as equal
      for (int j = 0; j < i; ++j) {
        ++all.pairs;
        all.flips += std::abs(std::log(chosen[std::size_t(i)] / chosen[std::size_t(j)])) > 0.02;
      }
  }
  return all;
}

double sum(const std::vector<double>& values) {
  double s = 0;
  for (const double v : values) s += v;
  return s;
}

void expect_good(const Outcome& outcome) {
  EXPECT_LE(median(outcome.regrets), 0.01);
  EXPECT_LE(quantile(outcome.regrets, 0.95), 0.03);
}

std::vector<modelled::Kernel> recorded() {
  return modelled::recorded(source_dir() / "bench/recorded_spaces.json");
}

void expect_steady(const Outcome& outcome) {
  expect_good(outcome);
  EXPECT_LE(outcome.flips / outcome.pairs, 0.05);
}

TEST(Regret, OfHalvingOnModelledKernels) { expect_steady(tune_all(modelled::all(), "halving")); }
TEST(Regret, OfExhaustiveSearchOnModelledKernels) { expect_steady(tune_all(modelled::all(), "exhaustive")); }
TEST(Regret, OnRecordedKernels) { expect_good(tune_all(recorded(), "halving")); }

/// The earlier choice is the incumbent of the next tuning, as it is with a store.
TEST(Flips, TuningAgainRarelyChangesTheChoice) {
  std::vector<modelled::Kernel> kernels = modelled::all();
  for (auto& k : recorded()) kernels.push_back(std::move(k));
  int changes = 0, tunings = 0;
  for (const auto& k : kernels) {
    TuneOptions o;
    o.budget = 30;
    for (int r = 0; r < 10; ++r) {
      SimulatedMeasurer m(k.seconds, {}, std::uint64_t(r + 1));
      const std::size_t winner = tune(k.name, k.space, m, o).winner;
      if (r > 0) ++tunings, changes += int(winner) != o.incumbent;
      o.incumbent = int(winner);
    }
  }
  EXPECT_LE(changes, tunings / 20) << changes << " of " << tunings;
}

TEST(Regret, TheModelsLeaveSomethingToTune) {
  int worthwhile = 0;
  for (const auto& k : modelled::all())
    worthwhile += k.seconds[0] > 1.05 * *std::min_element(k.seconds.begin(), k.seconds.end());
  EXPECT_GE(worthwhile, 12);
}

TEST(SearchCost, HalvingNeedsLessThanExhaustiveAndFindsMoreThanRandom) {
  const auto kernels = modelled::all();
  const Outcome halving = tune_all(kernels, "halving"), exhaustive = tune_all(kernels, "exhaustive"),
                random = tune_all(kernels, "random");
  EXPECT_LT(sum(halving.seconds), 0.8 * sum(exhaustive.seconds));
  EXPECT_LT(sum(halving.regrets), 0.5 * sum(random.regrets));
}

/// Measures the share of random search's regret that halving avoids in the same time: 0 is none, 1 is all.
/// Source: Willemsen et al., A methodology for comparing auto-tuning optimization algorithms, 2024.
TEST(SearchCost, AtEqualTimeHalvingBeatsRandom) {
  const auto kernels = modelled::all();
  for (const double budget : {0.02, 0.05, 0.1}) {
    const double with_random = sum(tune_all(kernels, "random", budget).regrets),
                 with_halving = sum(tune_all(kernels, "halving", budget).regrets);
    EXPECT_GT((with_random - with_halving) / with_random, 0.05) << budget << " s";
  }
}

}  // namespace
}  // namespace kolmo::tune
