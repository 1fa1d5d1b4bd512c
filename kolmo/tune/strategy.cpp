#include "kolmo/tune/strategy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "kolmo/base/error.hpp"

namespace kolmo::tune {
namespace {

using Configs = std::vector<std::size_t>;

constexpr int rounds_per_look = 7;  // an interval needs 6 pairs at least; one more is measured

void add_missing(Configs& configs, std::span<const std::size_t> kept) {
  for (const std::size_t k : kept)
    if (std::find(configs.begin(), configs.end(), k) == configs.end()) configs.push_back(k);
}

Configs all_of(const Space& space) {
  Configs all(space.size());
  std::iota(all.begin(), all.end(), std::size_t(0));
  return all;
}

void measure(Configs configs, std::span<const std::size_t> kept, Trials& trials) {
  add_missing(configs, kept);
  for (int i = 0; i < rounds_per_look && trials.round(configs); ++i) {}
}

/// Measures every configuration equally often.
class Exhaustive final : public Strategy {
  void search(const Space& space, std::span<const std::size_t> kept, Trials& trials) override {
    measure(all_of(space), kept, trials);
  }
};

/// Measures a quarter of the configurations, at least 8, drawn without replacement.
class Random final : public Strategy {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}

 private:
  void search(const Space& space, std::span<const std::size_t> kept, Trials& trials) override {
    Configs drawn = all_of(space);
    std::shuffle(drawn.begin(), drawn.end(), random_);
    drawn.resize(std::min(drawn.size(), std::max<std::size_t>(8, space.size() / 4)));
    measure(std::move(drawn), kept, trials);
  }
  std::mt19937_64 random_;
};

/// Hill climbing from the default and from three random configurations, to the best neighbour until none is
/// better.
class Climb final : public Strategy {
 public:
  explicit Climb(std::uint64_t seed) : random_(seed) {}

 private:
  void search(const Space& space, std::span<const std::size_t> kept, Trials& trials) override {
    std::set<std::size_t> visited;
    constexpr int starts = 4;
    for (int i = 0; i < starts && !trials.exhausted(); ++i) {
      std::size_t here = i == 0 ? kept[0] : random_() % space.size();
      while (visited.insert(here).second && !trials.exhausted()) {
        Configs around = space.neighbours(here);
        around.push_back(here);
        measure(around, kept, trials);
        const auto ratio = [&](std::size_t c) {
          const double r = paired_ratio(trials.times(c), trials.times(kept[0])).median;
          return std::isnan(r) ? INFINITY : r;
        };
        for (const std::size_t c : around)
          if (ratio(c) < ratio(here)) here = c;
      }
    }
  }
  std::mt19937_64 random_;
};

/// Measures all remaining configurations in rounds. After each round it removes those whose times are
/// significantly above the best one's. The significance is based on the scatter of all remaining
/// configurations' ratios together, so that two rounds already suffice; after the first round, the threshold
/// is four times the best time. Ends with four remaining, or after 16 rounds. If the budget is too small for
/// every configuration, it starts with a random subset that fits.
class Halving final : public Strategy {
 public:
  explicit Halving(std::uint64_t seed) : random_(seed) {}

 private:
  void search(const Space& space, std::span<const std::size_t> kept, Trials& trials) override {
    constexpr std::size_t finalists = 4, most_rounds = 16, fewest = 8;
    Configs live = all_of(space);
    const double sample = trials.spent() / double(std::max<std::size_t>(1, trials.samples()));
    const double affordable = trials.left() / (4 * sample);  // for warm-up and three rounds
    if (affordable < double(live.size()) && fewest < live.size()) {
      std::shuffle(live.begin(), live.end(), random_);
      live.resize(std::max(fewest, std::size_t(affordable)));
      add_missing(live, kept);
    }
    do {
      if (!trials.round(live)) return;
      std::erase_if(live, [&](std::size_t c) { return !trials.error(c).empty(); });
      drop_losers(live, kept, trials);
    } while (live.size() > finalists && trials.rounds() < most_rounds);
  }

  struct Standing {
    double log_ratio, error;
  };

  static void drop_losers(Configs& live, std::span<const std::size_t> kept, const Trials& trials) {
    std::vector<std::vector<double>> logs;
    std::vector<double> residuals, centers;
    for (const std::size_t c : live) {
      logs.push_back(log_ratios(trials.times(c), trials.times(kept[0])));
      centers.push_back(median(logs.back()));
      for (const double x : logs.back())
        if (x != centers.back())
          residuals.push_back(std::abs(x - centers.back()));  // the residual of the median itself is 0
    }
    // Residuals about the median of two or three values are too small, because the median takes a degree of
    // freedom.
    const double n = double(trials.rounds());
    constexpr double unknown = 0.231;  // three times this, on either side, is a factor of 4
    const double scatter =
        residuals.empty() ? unknown : std::max(1e-4, 1.4826 * median(residuals) * std::sqrt(n / (n - 1)));
    std::vector<Standing> standing;
    for (std::size_t i = 0; i < live.size(); ++i)
      standing.push_back({std::isnan(centers[i]) ? INFINITY : centers[i],
                          3 * scatter / std::sqrt(std::max(1.0, double(logs[i].size())))});
    double best = INFINITY;
    for (const Standing& s : standing) best = std::min(best, s.log_ratio + s.error);
    Configs kept_alive;
    for (std::size_t i = 0; i < live.size(); ++i)
      if (standing[i].log_ratio - standing[i].error <= best) kept_alive.push_back(live[i]);
    add_missing(kept_alive, kept);
    live = std::move(kept_alive);
  }

  static std::vector<double> log_ratios(std::span<const double> a, std::span<const double> b) {
    std::vector<double> all;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (const double r = std::log(a[i] / b[i]); std::isfinite(r)) all.push_back(r);
    return all;
  }

  std::mt19937_64 random_;
};

}  // namespace

std::unique_ptr<Strategy> make_strategy(std::string_view name, std::uint64_t seed) {
  if (name == "halving") return std::make_unique<Halving>(seed);
  if (name == "exhaustive") return std::make_unique<Exhaustive>();
  if (name == "random") return std::make_unique<Random>(seed);
  if (name == "climb") return std::make_unique<Climb>(seed);
  fail<InvalidArgument>("tune: there is no strategy '" + std::string(name) +
                        "'; there are halving, exhaustive, random and climb");
}

}  // namespace kolmo::tune
