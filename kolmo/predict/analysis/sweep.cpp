#include "kolmo/predict/analysis/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "kolmo/base/error.hpp"
#include "kolmo/base/normal_quantile.hpp"
#include "kolmo/base/philox.hpp"
#include "kolmo/predict/analysis/backtest.hpp"

namespace kolmo::predict {
namespace {

constexpr std::int64_t beyond_the_longest = 100;
constexpr std::size_t draws = 4000;

/// Leaves out runs whose last step lies so far beyond that of the others that no step is near all of them.
void leave_out_far_runs(std::vector<SweepRun>& runs, const std::vector<TrainingLog>& logs) {
  std::vector<std::int64_t> last;
  for (const SweepRun& run : runs)
    if (run.why_not.empty()) last.push_back(run.last_step);
  if (last.empty()) return;
  const auto middle = last.begin() + std::ptrdiff_t((last.size() - 1) / 2);
  std::nth_element(last.begin(), middle, last.end());
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].why_not.empty() && runs[i].last_step - *middle > farthest_blocks * logs[i].length())
      runs[i].why_not = runs[i].name + ": its last step, " + std::to_string(runs[i].last_step) +
                        ", is too far beyond " + std::to_string(*middle) +
                        ", that of the run in the middle, to forecast a step that they have in common";
}

/// Notes of runs, each with the first run that it is of, and how many more there are.
class RunNotes {
 public:
  void add(const std::string& run, const std::string& note) {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const Note& n) { return n.text == note; });
    if (found == all_.end())
      all_.push_back({note, run, 0});
    else
      ++found->more;
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const Note& n : all_)
      texts.push_back(n.run + (n.more ? " and " + std::to_string(n.more) + " more" : "") + ": " + n.text);
    return texts;
  }

 private:
  struct Note {
    std::string text, run;
    std::size_t more;
  };
  std::vector<Note> all_;
};

double normal_at(double level) {
  return std::copysign(two_sided_quantile(std::fabs(2 * level - 1)), level - .5);
}

/// The logarithm of the loss at the common step, as its quantiles.
struct LogLoss {
  Quantiles at;
  /// The quantile of level u. Beyond 5 % and 95 % it goes on as that of a normal distribution.
  double quantile(double u) const {
    const double place = u * double(quantile_count + 1) - 1, middle = at[quantile_count / 2];
    if (place <= 0) return middle + (at.front() - middle) * normal_at(u) / normal_at(quantile_level(0));
    if (place >= double(quantile_count - 1))
      return middle + (at.back() - middle) * normal_at(u) / normal_at(quantile_level(quantile_count - 1));
    const auto i = std::size_t(place);
    return at[i] + (at[i + 1] - at[i]) * (place - double(i));
  }
};

LogLoss at_the_end(const Forecast& f) {
  LogLoss loss;
  for (std::size_t k = 0; k < quantile_count; ++k) loss.at[k] = std::log(f.quantiles.back()[k]);
  return loss;
}

/// A number in (0, 1) that is the same wherever and whenever it is drawn.
double uniform(std::uint64_t draw, std::uint64_t run) {
  const auto words = Philox(0)(draw, run);
  return uniform53(words.w[0], words.w[1]) + 0x1p-54;
}

/// Ranks and probabilities of runs, the first of which leads.
void rank(const std::vector<SweepRun*>& runs, const std::vector<LogLoss>& losses) {
  const std::size_t n = runs.size();
  std::vector<std::vector<double>> ranks(n);
  std::vector<double> loss(n), below(n);
  std::vector<std::size_t> order(n);
  for (std::size_t d = 0; d < draws; ++d) {
    for (std::size_t i = 0; i < n; ++i) {
      loss[i] = losses[i].quantile(uniform(d, i));
      below[i] += loss[i] < loss[0];
    }
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return loss[a] < loss[b]; });
    for (std::size_t r = 0; r < n; ++r) ranks[order[r]].push_back(double(r + 1));
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::sort(ranks[i].begin(), ranks[i].end());
    runs[i]->rank = ranks[i][draws / 2], runs[i]->rank_low = ranks[i][draws / 20];
    runs[i]->rank_high = ranks[i][draws - draws / 20 - 1];
    runs[i]->best =
        double(std::upper_bound(ranks[i].begin(), ranks[i].end(), 1.) - ranks[i].begin()) / double(draws);
    if (i > 0) runs[i]->below_leader = below[i] / double(draws);
  }
}

}  // namespace

Sweep sweep(const std::string& folder, const ForecastRequest& request) {
  Sweep out;
  std::vector<TrainingLog> logs;
  for (const std::string& file : run_files(folder)) {
    SweepRun run{file};
    TrainingLog log;
    try {
      log = read_log(file, request.columns, request.block.value_or(0));
      run.last_step = log.last_step();
    } catch (const Error& e) {
      run.why_not = e.what();
    }
    out.runs.push_back(std::move(run));
    logs.push_back(std::move(log));
  }
  leave_out_far_runs(out.runs, logs);
  for (const SweepRun& run : out.runs)
    if (run.why_not.empty())
      out.step = std::max(out.step, run.last_step + request.horizon.value_or(beyond_the_longest));
  RunNotes notes;
  std::vector<LogLoss> losses(out.runs.size());
  for (std::size_t i = 0; i < out.runs.size(); ++i) {
    SweepRun& run = out.runs[i];
    if (!run.why_not.empty()) continue;
    ForecastRequest own = request;
    own.horizon = out.step - run.last_step;
    try {
      const ForecastResult r = forecast_log(logs[i], own, run.name);
      losses[i] = at_the_end(r.forecast);
      run.loss = r.loss, run.driver = r.forecast.driver;
      run.median = std::exp(losses[i].at[quantile_count / 2]);
      run.low = std::exp(losses[i].at.front()), run.high = std::exp(losses[i].at.back());
      for (const std::string& note : r.notes) notes.add(run.name, note);
    } catch (const InvalidArgument& e) {
      run.why_not = run.name + ": " + e.what();
    }
  }
  out.notes = notes.texts();
  std::vector<std::size_t> order(out.runs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const SweepRun &x = out.runs[a], &y = out.runs[b];
    return x.why_not.empty() && (!y.why_not.empty() || x.median < y.median);
  });
  std::vector<SweepRun> runs;
  std::vector<LogLoss> ordered;
  for (const std::size_t i : order) runs.push_back(std::move(out.runs[i])), ordered.push_back(losses[i]);
  out.runs = std::move(runs);
  std::vector<SweepRun*> known;
  for (SweepRun& run : out.runs)
    if (run.why_not.empty()) known.push_back(&run);
  require(known.size() >= 2, folder + ": a sweep needs two runs that can be forecast" +
                                 (known.size() == out.runs.size() ? "" : "; " + out.runs.back().why_not));
  rank(known, ordered);
  return out;
}

nlohmann::ordered_json sweep_json(const Sweep& sweep) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const SweepRun& r : sweep.runs) {
    nlohmann::ordered_json run{{"file", r.name}, {"last_step", r.last_step}};
    if (r.why_not.empty())
      run.update({{"loss", r.loss},
                  {"median", r.median},
                  {"low", r.low},
                  {"high", r.high},
                  {"rank", r.rank},
                  {"rank_low", r.rank_low},
                  {"rank_high", r.rank_high},
                  {"best", r.best},
                  {"below_leader", r.below_leader},
                  {"may_stop", sweep.may_stop(r)},
                  {"driver", r.driver}});
    else
      run["why_not"] = r.why_not;
    runs.push_back(std::move(run));
  }
  return {{"step", sweep.step}, {"stop_below", Sweep::stop_below}, {"runs", runs}, {"notes", sweep.notes}};
}

}  // namespace kolmo::predict
