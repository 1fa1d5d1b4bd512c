#include "kolmo/predict/decide/store_standing.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "kolmo/base/error.hpp"
#include "kolmo/base/philox.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/predict/forecast/forecasters.hpp"
#include "kolmo/predict/record/sealed_file.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo::predict {
namespace {

constexpr std::size_t judged[] = {1, 5, 10}, most_errors = 500;
constexpr std::uint64_t most_bytes = 64 << 20;

std::string path_of(const std::string& folder) {
  return (std::filesystem::path(folder) / "v1" / "standing.kolmo").string();
}

/// An error at a horizon, of a forecast of one run.
struct Error {
  std::size_t run;
  double error, unit;  // the error in this unit
};
using Errors = std::map<std::size_t, std::vector<Error>>;  // by horizon

/// Returns the origins of the model's errors, in their order (see WorldModel::residuals).
template <class Use>
void each_origin(const std::vector<const Blocks*>& runs, std::size_t least, const Use& use) {
  for (const std::size_t half : {0, 1})
    for (std::size_t r = half; r < runs.size(); r += 2) {
      const std::size_t n = runs[r]->loss.size(), step = std::max<std::size_t>(5, n / 16);
      for (std::size_t t = least; t + 1 <= n; t += step) use(r, t);
    }
}

Errors errors_of(const WorldModel& model, const std::vector<const Blocks*>& runs) {
  Errors all;
  std::vector<std::size_t> next(model.residuals().size());
  each_origin(runs, model.least(), [&](std::size_t r, std::size_t t) {
    for (std::size_t h = 1; h <= next.size() && t + h <= runs[r]->loss.size(); ++h) {
      if (next[h - 1] >= model.residuals()[h - 1].size()) continue;
      const Residual e = model.residuals()[h - 1][next[h - 1]++];
      if (!runs[r]->knows(t - 1) || !runs[r]->knows(t + h - 1)) continue;
      all[h].push_back({r, e.error / e.unit, e.unit});
    }
  });
  for (std::size_t h = 0; h < next.size(); ++h)
    require(next[h] == model.residuals()[h].size(),
            "run store: the runs are not those that the model was trained on");
  return all;
}

Errors errors_of(const Forecaster& forecaster, const std::vector<const Blocks*>& runs, std::size_t least) {
  struct Origin {
    std::size_t run, seen;
    std::vector<std::pair<std::size_t, Error>> errors;  // by horizon
  };
  std::vector<Origin> origins;
  each_origin(runs, least, [&](std::size_t r, std::size_t t) { origins.push_back({r, t, {}}); });
  parallel_for(hardware_threads(), std::int64_t(origins.size()), [&](std::int64_t i, int) {
    Origin& o = origins[std::size_t(i)];
    const Blocks& run = *runs[o.run];
    const Seen seen{run, o.seen};
    if (!forecaster.able(seen) || !run.knows(o.seen - 1)) return;
    const std::size_t ahead = std::min(standing_horizons().back(), run.loss.size() - o.seen);
    const Prediction prediction = forecaster.predict(seen, rates_of(run, o.seen, ahead));
    const double noise = noise_of(seen);
    for (const std::size_t h : standing_horizons()) {
      if (h > ahead) break;
      if (!run.knows(o.seen + h - 1)) continue;
      const double unit = error_unit(noise, prediction, h - 1),
                   error = std::log(run.loss[o.seen + h - 1]) - prediction.centres[h - 1];
      o.errors.emplace_back(h, Error{o.run, error / unit, unit});
    }
  });
  Errors all;
  for (const Origin& o : origins)
    for (const auto& [h, error] : o.errors) all[h].push_back(error);
  return all;
}

Quantiles quantiles_of(const std::vector<Error>& errors) {
  std::vector<PastError> all;
  all.reserve(errors.size());
  for (const Error& e : errors) all.push_back({e.error});
  return error_quantiles(all, double(all.size()));
}

/// The mean CRPS of each run that has errors.
std::map<std::size_t, double> crps_by_run(const std::vector<Error>& errors) {
  const Quantiles quantiles = quantiles_of(errors);
  std::map<std::size_t, std::pair<double, double>> sums;
  for (const Error& e : errors)
    sums[e.run].first += e.unit * crps_of(quantiles, e.error), ++sums[e.run].second;
  std::map<std::size_t, double> means;
  for (const auto& [run, sum] : sums) means[run] = sum.first / sum.second;
  return means;
}

StoreStanding::Of standing_of(const std::string& name, const Errors& errors) {
  StoreStanding::Of of{name};
  for (std::size_t j = 0; j < std::size(judged); ++j) {
    const auto found = errors.find(judged[j]);
    const auto by_run = found == errors.end() ? std::map<std::size_t, double>() : crps_by_run(found->second);
    double sum = 0;
    for (const auto& [run, crps] : by_run) sum += crps;
    of.crps[j] = by_run.empty() ? INFINITY : sum / double(by_run.size());
  }
  for (const std::size_t h : standing_horizons()) {
    std::vector<float> some;
    if (const auto found = errors.find(h); found != errors.end())
      for (std::size_t i = 0, n = found->second.size(), kept = std::min(n, most_errors); i < kept; ++i)
        some.push_back(float(found->second[i * n / kept].error));
    of.errors.push_back(std::move(some));
  }
  return of;
}

/// The gain as a share of the loss, from runs whose rate fell by half or more and that say something of it.
GainPrior prior_of(const std::vector<const Blocks*>& runs, std::size_t& decays) {
  std::vector<double> gains;
  for (const Blocks* run : runs) {
    const Law law = fit_law({*run, run->loss.size()}, LawTerms::lag);
    if (!law.gain_of_loss && law.lag < .5 && law.gain_known > .9)
      gains.push_back(law.gain / (law.gain + run->loss.back() - law.gain * law.lag));
  }
  decays = gains.size();
  if (decays < StoreStanding::fewest_decays) return {};
  std::sort(gains.begin(), gains.end());
  const auto at = [&](double level) { return gains[std::size_t(level * double(gains.size() - 1))]; };
  return {at(.5), at(.05), std::max(at(.95), at(.05) + .01)};
}

}  // namespace

const std::vector<std::size_t>& standing_horizons() {
  static const std::vector<std::size_t> all = kept_horizons(10);
  return all;
}

const StoreStanding::Of* StoreStanding::find(std::string_view name) const {
  for (const Of& of : forecasters)
    if (of.forecaster == name) return &of;
  return nullptr;
}

std::array<double, 2> bootstrap_mean(const std::vector<double>& values) {
  constexpr std::size_t draws = 2000;
  if (values.empty()) return {unknown, unknown};
  std::vector<double> means;
  for (std::size_t d = 0; d < draws; ++d) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); i += 4) {
      const Philox::Words words = Philox(0)(i, d);
      for (std::size_t k = 0; k < 4 && i + k < values.size(); ++k)
        sum += values[std::size_t((std::uint64_t(words.w[k]) * values.size()) >> 32)];
    }
    means.push_back(sum / double(values.size()));
  }
  std::sort(means.begin(), means.end());
  return {means[draws / 40], means[draws - draws / 40 - 1]};
}

StoreStanding judge(const RunStore& store) {
  require(store.model() != nullptr, "run store: there is no model to judge");
  StoreStanding standing;
  std::vector<const Blocks*> runs;
  for (const PastRun& run : store.runs())
    if (teaches(run)) runs.push_back(&run.blocks);
  standing.runs = runs.size();
  const auto longest = [](const Blocks* a, const Blocks* b) { return a->loss.size() < b->loss.size(); };
  require(!runs.empty() && (*std::max_element(runs.begin(), runs.end(), longest))->loss.size() >= 20 &&
              runs.size() > 1,
          "run store: judging forecasters takes 2 runs or more");
  standing.prior = prior_of(runs, standing.decays);
  const WorldModel& model = *store.model();
  const Errors of_model = errors_of(model, runs);
  std::map<std::string, Errors> simple;
  for (const auto& f : simple_forecasters(standing.prior)) {
    const Errors& errors = simple[std::string(f->name())] = errors_of(*f, runs, model.least());
    if (errors.size() == standing_horizons().size())  // it was able to forecast them
      standing.forecasters.push_back(standing_of(std::string(f->name()), errors));
  }
  standing.forecasters.push_back(standing_of(std::string(model.name()), of_model));
  const std::array<double, 3> persistence = standing.forecasters[0].crps;
  for (StoreStanding::Of& of : standing.forecasters) {
    of.relative = 0;
    for (std::size_t j = 0; j < std::size(judged); ++j)
      of.relative += of.crps[j] / persistence[j] / double(std::size(judged));
  }
  standing.admitted = true;
  for (std::size_t j = 0; j < std::size(judged); ++j) {
    const auto best = std::min_element(standing.forecasters.begin(), standing.forecasters.end() - 1,
                                       [&](const auto& a, const auto& b) { return a.crps[j] < b.crps[j]; });
    standing.best_simple = best->forecaster;
    std::vector<double> differences;
    const auto mine = of_model.find(judged[j]);
    if (mine != of_model.end()) {
      const auto others = crps_by_run(simple[best->forecaster].at(judged[j]));
      for (const auto& [run, crps] : crps_by_run(mine->second))
        if (others.contains(run)) differences.push_back(crps - others.at(run));
    }
    standing.difference[j] = bootstrap_mean(differences);
    if (judged[j] > 1 && !(standing.difference[j][1] < 0)) standing.admitted = false;
  }
  return standing;
}

std::string StoreStanding::text() const {
  SealedFile file;
  auto all = nlohmann::json::array();
  for (const Of& of : forecasters) {
    all.push_back({{"name", of.forecaster}, {"crps", of.crps}, {"relative", of.relative}});
    for (const auto& errors : of.errors) file.floats.push_back(errors);
  }
  file.header = {{"kind", "standing"},         {"forecasters", all},
                 {"best_simple", best_simple}, {"difference", difference},
                 {"admitted", admitted},       {"runs", runs},
                 {"decays", decays},           {"gain", {prior.median, prior.low, prior.high}}};
  return file.text();
}

StoreStanding StoreStanding::parse(const std::string& text, const std::string& label) {
  SealedFile file = SealedFile::parse(text, "standing", label);
  StoreStanding s;
  try {
    std::size_t next = 0;
    for (const auto& one : file.header.at("forecasters")) {
      Of of{one.at("name").get<std::string>(), one.at("crps").get<std::array<double, 3>>(),
            one.at("relative").get<double>()};
      for (std::size_t h = 0; h < standing_horizons().size(); ++h)
        of.errors.push_back(file.floats.at(next++));
      s.forecasters.push_back(std::move(of));
    }
    s.best_simple = file.header.at("best_simple").get<std::string>();
    s.difference = file.header.at("difference").get<std::array<std::array<double, 2>, 3>>();
    s.admitted = file.header.at("admitted").get<bool>(), s.runs = file.header.at("runs").get<std::size_t>();
    const auto gain = file.header.at("gain").get<std::array<double, 3>>();
    s.prior = {gain[0], gain[1], gain[2]}, s.decays = file.header.value("decays", std::size_t(0));
  } catch (const std::exception& e) {
    fail<InvalidArgument>(label + ": is damaged: " + e.what());
  }
  return s;
}

void write_standing(const std::string& folder, const StoreStanding& standing) {
  write_file(path_of(folder), standing.text(), Existing::replaced);
}

std::optional<StoreStanding> read_standing(const std::string& folder, std::vector<std::string>& warnings) {
  try {
    return StoreStanding::parse(read_regular(path_of(folder), most_bytes, Links::refused), path_of(folder));
  } catch (const kolmo::Error& e) {
    warnings.push_back(std::string(e.what()) +
                       "; forecasts are made without what past runs say of forecasters");
    return std::nullopt;
  }
}

}  // namespace kolmo::predict
