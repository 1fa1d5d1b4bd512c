#include "kolmo/tune/tune.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "kolmo/base/error.hpp"
#include "kolmo/tune/cannot_run.hpp"
#include "kolmo/tune/strategy.hpp"

namespace kolmo::tune {
namespace {

using Configs = std::vector<std::size_t>;

constexpr std::size_t finalists = 4;
constexpr double search_share = 0.7;      // share of the budget; the rest is for the decision
constexpr double indifference = 1.01;     // finalists whose times differ by less are considered equal
constexpr std::size_t fewest_rounds = 8;  // rounds before the first look; doubled for each further look
constexpr std::size_t most_rounds = 128;
constexpr std::size_t most_confirming = 64;  // so many rounds at most

bool contains(const Configs& configs, std::size_t c) {
  return std::find(configs.begin(), configs.end(), c) != configs.end();
}
void add(Configs& configs, std::size_t c) {
  if (!contains(configs, c)) configs.push_back(c);
}

class Search {
 public:
  Search(const Space& space, Measurer& measurer, const TuneOptions& o)
      : space_(space), options_(o), trials_(measurer, space.size()) {
    require(o.standard < space.size() && o.incumbent < int(space.size()) && o.naive < int(space.size()),
            "tune: the default, incumbent or naive configuration is not in the space");
    kept_.push_back(o.standard);
    if (o.incumbent >= 0) add(kept_, std::size_t(o.incumbent));
  }

  Tuning run() {
    const bool naive_last = options_.naive >= 0 && !contains(kept_, std::size_t(options_.naive));
    if (naive_last) trials_.hold_back(std::size_t(options_.naive), true);
    in_use_ = winner_ = options_.standard;
    trials_.round(kept_);
    require_default();
    trials_.set_deadline(options_.deadline);
    trials_.set_budget(search_share * options_.budget);
    make_strategy(options_.strategy, options_.seed)->search(space_, kept_, trials_);
    trials_.set_budget(options_.budget);
    require_default();
    if (trials_.late()) return report();
    choose_finalists();
    decide();
    if (naive_last) compare_with_naive();
    confirm();
    require_default();
    return report();
  }

 private:
  bool failed(std::size_t c) const { return !trials_.error(c).empty() || wrong_.contains(c); }
  void require_default() const {
    if (const std::string& why = trials_.error(options_.standard); !why.empty())
      fail<Unsupported>("the default configuration cannot run: " + why);
  }

  void choose_finalists() {
    in_use_ = kept_.size() > 1 && verify(kept_[1]) ? kept_[1] : options_.standard;
    verify(in_use_);
    finalists_.push_back(in_use_);
    add(finalists_, options_.standard);
    double round = 0;  // in seconds, doubled to allow for time that is not measured
    for (const std::size_t c : finalists_) round += 2 * call(c);
    std::size_t chosen = 0;
    for (const std::size_t c : trials_.ranked(options_.standard)) {
      if (chosen == finalists) break;
      round += 2 * call(c);
      if (trials_.late() || (chosen && double(fewest_rounds) * round > options_.budget - trials_.spent()))
        break;
      if (!verify(c)) continue;
      add(finalists_, c);
      ++chosen;
    }
  }

  double call(std::size_t c) const { return median_interval(trials_.times(c)).median; }

  bool verify(std::size_t c) {
    if (failed(c)) return false;
    if (!options_.verify || verified_.contains(c)) return true;
    std::string why;
    try {
      why = why_it_cannot_run([&] { verified_[c] = options_.verify(c); });
    } catch (const DeviceError&) {
      throw;
    } catch (const Error& e) {
      why = e.what();
    }
    if (why.empty()) return true;
    wrong_[c] = why;
    // There is nothing to fall back on: a wrong default is reported, not replaced.
    return c == options_.standard;
  }

  void decide() {
    final_begin_ = trials_.rounds();
    winner_ = in_use_;
    for (std::size_t look = fewest_rounds; look <= most_rounds; look *= 2) {
      while (trials_.rounds() - final_begin_ < look)
        if (!trials_.round(finalists_)) {
          // Too few rounds for a decision: those of the search are included.
          if (trials_.rounds() - final_begin_ < fewest_rounds) final_begin_ = 0;
          settled();
          decided_ = (finalists_.size() > 1 || space_.size() == 1) &&
                     std::all_of(finalists_.begin(), finalists_.end(), [&](std::size_t c) {
                       return c == in_use_ || failed(c) || gain(in_use_, c).lower > 0;
                     });
          return;
        }
      if (settled()) {
        decided_ = true;
        return;
      }
    }
    decided_ = true;  // the difference is negligible
  }

  /// Replaces configurations that failed. Even the one in use may fail in later rounds, for example when
  /// memory gets short.
  void replace_failed() {
    require_default();
    if (!trials_.error(in_use_).empty()) in_use_ = options_.standard;
  }

  /// Measures the naive configuration. The budget does not limit this, since it may take longer than all
  /// others together. If it is the fastest, the decision is made again.
  void compare_with_naive() {
    if (trials_.late()) return;
    const auto naive = std::size_t(options_.naive);
    Configs compared{options_.standard, naive};
    add(compared, winner_);
    trials_.hold_back(naive, false);
    trials_.set_budget(INFINITY);
    bool more = trials_.round(compared);
    trials_.set_budget(options_.budget);
    for (std::size_t i = 1; more && i < fewest_rounds; ++i) more = trials_.round(compared);
    if (trials_.exhausted() || !trials_.measured(naive) ||
        paired_ratio(trials_.times(winner_), trials_.times(naive)).median <= 1 || !verify(naive))
      return;
    add(finalists_, naive);
    decide();
  }

  /// Confirms the winner: it must also be faster than the configuration in use in further rounds, in which
  /// these two alone are measured.
  void confirm() {
    if (winner_ == in_use_ || !decided_) return;
    const std::size_t chosen = winner_;
    winner_ = in_use_;
    const Configs both{in_use_, chosen};
    const std::size_t begin = trials_.rounds();
    const auto later = [&](std::size_t c) {
      const auto all = trials_.times(c);
      return all.subspan(std::min(all.size(), begin));
    };
    trials_.set_budget(INFINITY);
    for (std::size_t look = fewest_rounds; look <= most_confirming; look *= 2) {
      while (trials_.rounds() - begin < look && decided_) decided_ = trials_.round(both);
      replace_failed();
      if (failed(chosen) || !decided_) break;
      if (paired_ratio(later(both[0]), later(chosen)).lower > 1) {
        winner_ = chosen;
        return;
      }
    }
    winner_ = in_use_;
  }

  std::span<const double> final_times(std::size_t c) const {
    const auto all = trials_.times(c);
    return all.subspan(std::min(all.size(), final_begin_));
  }
  Ratio gain(std::size_t slow, std::size_t fast) const {
    return paired_ratio(final_times(slow), final_times(fast));
  }

  /// Sets the winner from the data so far; returns true if more rounds would change little.
  bool settled() {
    replace_failed();
    std::size_t best = in_use_;
    double best_gain = 1;
    for (const std::size_t c : finalists_)
      if (const double g = gain(in_use_, c).median;
          c != in_use_ && (g > best_gain || (g == best_gain && c < best)) && !failed(c))
        best = c, best_gain = g;
    const double needed = 1 + options_.margin;
    const bool switches = best != in_use_ && gain(in_use_, best).lower > needed;
    winner_ = switches ? best : in_use_;
    return std::all_of(finalists_.begin(), finalists_.end(), [&](std::size_t c) {
      if (c == winner_ || failed(c)) return true;
      return gain(winner_, c).upper < (switches ? indifference : needed);
    });
  }

  Tuning report() const {
    Tuning t;
    t.strategy = options_.strategy, t.winner = winner_, t.standard = options_.standard;
    t.naive = options_.naive, t.decided = decided_;
    t.combinations = space_.combinations(), t.feasible = space_.size();
    t.samples = trials_.samples(), t.discarded = trials_.discarded(), t.seconds = trials_.spent();
    for (std::size_t c = 0; c < space_.size(); ++c) {
      if (!trials_.measured(c) && trials_.error(c).empty()) continue;
      t.findings.push_back(finding(c));
    }
    t.tried = t.findings.size();
    return t;
  }

  Finding finding(std::size_t c) const {
    Finding f;
    f.config = c;
    const bool in_final = contains(finalists_, c) && trials_.rounds() > final_begin_ + 1;
    const auto times = in_final ? final_times(c) : trials_.times(c);
    const auto standard = in_final ? final_times(options_.standard) : trials_.times(options_.standard);
    std::vector<double> finite;
    std::copy_if(times.begin(), times.end(), std::back_inserter(finite),
                 [](double s) { return std::isfinite(s); });
    f.samples = int(finite.size());
    f.seconds = median_interval(finite);
    f.quartiles = quantile(finite, 0.75) - quantile(finite, 0.25);
    f.gain = paired_ratio(standard, times);
    f.error = wrong_.contains(c) ? wrong_.at(c) : trials_.error(c);
    if (const auto v = verified_.find(c); v != verified_.end()) f.verified = v->second;
    return f;
  }

  const Space& space_;
  const TuneOptions& options_;
  Trials trials_;
  Configs kept_, finalists_;
  std::map<std::size_t, std::string> verified_, wrong_;
  std::size_t in_use_ = 0, winner_ = 0, final_begin_ = 0;
  bool decided_ = false;
};

class FunctionMeasurer final : public Measurer {
 public:
  FunctionMeasurer(const Space& space, const Evaluate& evaluate) : space_(space), evaluate_(evaluate) {}
  double prepare(std::size_t config) override { return sample(config).value_or(0); }
  std::optional<double> sample(std::size_t config) override {
    const auto begin = std::chrono::steady_clock::now();
    const double seconds = evaluate_(space_.values(config));
    spent_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    require(seconds > 0 && std::isfinite(seconds), "tune: a measured time must be positive and finite");
    return seconds;
  }
  double spent() const override { return spent_; }

 private:
  const Space& space_;
  const Evaluate& evaluate_;
  double spent_ = 0;
};

}  // namespace

const Finding* Tuning::find(std::size_t config) const {
  for (const Finding& f : findings)
    if (f.config == config) return &f;
  return nullptr;
}

const Finding& Tuning::finding(std::size_t config) const {
  if (const Finding* f = find(config)) return *f;
  fail<InvalidArgument>("tune: configuration " + std::to_string(config) + " of " + name + " was not tried");
}

Tuning tune(std::string_view name, const Space& space, Measurer& measurer, const TuneOptions& options) {
  try {
    Tuning t = Search(space, measurer, options).run();
    t.name = name;
    return t;
  } catch (const Unsupported& e) {
    fail<Unsupported>(std::string(name) + ": " + e.what(), e.where());
  }
}

Tuning tune(std::string_view name, const Space& space, const Evaluate& evaluate, const TuneOptions& options) {
  FunctionMeasurer measurer(space, evaluate);
  return tune(name, space, measurer, options);
}

}  // namespace kolmo::tune
