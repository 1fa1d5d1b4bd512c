#include "kolmo/predict/model/world_model.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/predict/forecast/calibrator.hpp"
#include "kolmo/predict/forecast/law.hpp"
#include "kolmo/predict/model/inputs.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"

namespace kolmo::predict {
namespace {

/// Rolls out at most `Lanes` plans.
template <int Lanes, class T>
void roll(const Member<T>& member, const Seen& seen, std::span<const RateBlocks> plans,
          std::vector<std::vector<double>>& out) {
  constexpr int inputs = MemberSizes::inputs, planned = MemberSizes::planned;
  const std::size_t n = std::size_t(member.sizes.hidden) * Lanes, ahead_of = plans[0].size(),
                    count = seen.count;
  const std::size_t first = count - std::min<std::size_t>(count, window);
  std::vector<TrainingInputs> in;
  for (const RateBlocks& plan : plans) in.emplace_back(seen, plan, first);
  std::vector<T> x(inputs * Lanes), plan(planned * Lanes), h(n), next(n), gates(4 * n),
      a(MemberSizes::head * Lanes);
  const auto load = [&](std::vector<T>& to, std::size_t units, const auto& row) {
    for (std::size_t l = 0; l < plans.size(); ++l)
      for (std::size_t i = 0; i < units; ++i) to[i * Lanes + l] = T(row(in[l])[i]);
  };
  LossTrace<T> trace[Lanes] = {};
  for (std::size_t l = 0; l < plans.size(); ++l) {
    const LossTrace<double>& last = in[l].trace.back();
    trace[l] = {T(last.level), T(last.fast_mean), T(last.slow_mean), T(last.anchor), T(last.trend)};
    trace[l].leave();
  }
  T d[Lanes];
  by_instruction_set([&] {
    for (std::size_t t = first; t < count + ahead_of; ++t) {
      load(
          x, inputs, [&](const TrainingInputs& i) -> const auto& { return i.block[t - first]; });
      if (t >= count) {
        load(
            plan, planned, [&](const TrainingInputs& i) -> const auto& { return i.planned[t - first]; });
        member.template change<Lanes>(h.data(), plan.data(), a.data(), d);
        for (std::size_t l = 0; l < Lanes; ++l) {
          const T change = trace[l].imagine(d[l]);
          trace[l].write(change, x.data() + l, Lanes);
          if (l < plans.size()) out[l].push_back(double(trace[l].level));
        }
      }
      member.template cell<Lanes>(x.data(), h.data(), gates.data(), next.data());
      h.swap(next);
    }
  });
}

/// Adds the errors of an ensemble on a training.
void add_errors(const WorldModel& model, const Blocks& run, Residuals& to) {
  const std::size_t blocks = run.loss.size(), step = std::max<std::size_t>(5, blocks / 16);
  for (std::size_t t = model.least(); t + 1 <= blocks; t += step) {
    RateBlocks plan;
    const std::size_t end = std::min(blocks, t + ahead);
    for (std::size_t i = t; i < end; ++i) {
      plan.rate.push_back(run.rate[i]), plan.slope.push_back(run.slope[i]), plan.sum.push_back(run.sum[i]);
    }
    const Seen seen{run, t};
    const Prediction prediction = model.predict(seen, plan);
    const double noise = noise_of(seen);
    for (std::size_t i = t; i < end; ++i)
      to[i - t].push_back({float(std::log(run.loss[i]) - prediction.centres[i - t]),
                           float(error_unit(noise, prediction, i - t))});
  }
}

}  // namespace

template <class T>
std::vector<std::vector<double>> roll_out(const Member<T>& member, const Seen& seen,
                                          std::span<const RateBlocks> plans) {
  std::vector<std::vector<double>> all;
  constexpr auto most = std::size_t(training_lanes);
  for (std::size_t i = 0; i < plans.size(); i += most) {
    const auto some = plans.subspan(i, std::min(most, plans.size() - i));
    std::vector<std::vector<double>> out(some.size());
    some.size() == 1 ? roll<1>(member, seen, some, out) : roll<training_lanes>(member, seen, some, out);
    std::move(out.begin(), out.end(), std::back_inserter(all));
  }
  return all;
}
template std::vector<std::vector<double>> roll_out(const Member<float>&, const Seen&,
                                                   std::span<const RateBlocks>);
template std::vector<std::vector<double>> roll_out(const Member<double>&, const Seen&,
                                                   std::span<const RateBlocks>);

WorldModel::WorldModel(int hidden, std::vector<std::vector<float>> members, Residuals residuals,
                       Likeness likeness)
    : sizes_{hidden},
      members_(std::move(members)),
      residuals_(std::move(residuals)),
      likeness_(std::move(likeness)) {
  TrainingOptions sizes;
  sizes.hidden = hidden, sizes.members = int(members_.size());
  sizes.check();
  residuals_.resize(ahead);
  for (const auto& m : members_) {
    require(std::ptrdiff_t(m.size()) == sizes_.count(),
            "world model: a member has " + std::to_string(m.size()) + " parameters, but " +
                std::to_string(sizes_.count()) + " belong to " + std::to_string(hidden) + " units");
    require(std::all_of(m.begin(), m.end(), [](float v) { return std::isfinite(v); }),
            "world model: a parameter is not finite");
  }
}

WorldModel WorldModel::train(std::span<const Blocks* const> runs, const TrainingOptions& options) {
  options.check();
  for (const Blocks* run : runs)
    require(
        std::all_of(run->loss.begin(), run->loss.end(), [](double l) { return l > 0 && std::isfinite(l); }),
        "world model: the losses of a training must be positive and finite");
  std::vector<const Blocks*> half[2];
  for (std::size_t i = 0; i < runs.size(); ++i) half[i % 2].push_back(runs[i]);
  const Windows all(runs), halves[2] = {Windows(half[0]), Windows(half[1])};
  require(all.count() > 0, "world model: no training has " + std::to_string(least_window) + " blocks");

  // The members of the ensemble, and those that forecast one half after training on the other.
  const int own = options.members, cross = halves[0].count() && halves[1].count() ? (own + 1) / 2 : 0;
  std::vector<std::vector<float>> found(std::size_t(own + 2 * cross));
  // A thread of the CPU trains one member, a stream of another device all that learn from the same windows.
  std::vector<std::vector<std::uint64_t>> jobs;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t group = i < std::size_t(own) ? 0 : 1 + (i - std::size_t(own)) % 2,
                      job = options.device.kind == DeviceKind::cpu ? i : group;
    jobs.resize(std::max(jobs.size(), job + 1));
    jobs[job].push_back(i);
  }
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  parallel_for(threads, std::int64_t(jobs.size()), [&](std::int64_t j, int) {
    const auto& job = jobs[std::size_t(j)];
    const Windows& w = job[0] < std::uint64_t(own) ? all : halves[(job[0] - std::uint64_t(own)) % 2];
    auto trained = train_members<float>(w, options, job);
    for (std::size_t i = 0; i < job.size(); ++i) found[job[i]] = std::move(trained[i]);
  });
  Residuals errors(ahead);
  for (std::size_t h = 0; h < 2 && cross; ++h) {
    std::vector<std::vector<float>> others;
    for (std::size_t i = std::size_t(own) + 1 - h; i < found.size(); i += 2) others.push_back(found[i]);
    const WorldModel model(options.hidden, std::move(others), {}, Likeness(half[1 - h]));
    std::vector<Residuals> of_run(half[h].size(), Residuals(ahead));
    parallel_for(threads, std::int64_t(of_run.size()), [&](std::int64_t r, int) {
      add_errors(model, *half[h][std::size_t(r)], of_run[std::size_t(r)]);
    });
    for (const Residuals& of : of_run)
      for (std::size_t i = 0; i < of.size(); ++i)
        errors[i].insert(errors[i].end(), of[i].begin(), of[i].end());
  }
  found.resize(std::size_t(own));
  return {options.hidden, std::move(found), std::move(errors), Likeness(runs)};
}

std::vector<std::vector<std::vector<double>>> WorldModel::rollouts(const Seen& seen,
                                                                   std::span<const RateBlocks> plans) const {
  std::vector<std::vector<std::vector<double>>> all(plans.size());
  for (const auto& parameters : members_) {
    auto of_member = roll_out<float>({sizes_, parameters.data()}, seen, plans);
    for (std::size_t i = 0; i < plans.size(); ++i) all[i].push_back(std::move(of_member[i]));
  }
  return all;
}

Prediction WorldModel::predict(const Seen& seen, const RateBlocks& planned) const {
  constexpr double of_variance = 8, of_unlike = .5;
  const double most = unlike(seen) ? of_unlike : 1;
  const auto members = std::move(rollouts(seen, {&planned, 1})[0]);
  const std::vector<double> law =
      fit_law(seen, LawTerms::lag).after(planned, seen.blocks.length).logs(seen.loss()[seen.count - 1]);
  const double n = double(members.size());
  Prediction out;
  double distance = 0, doubt = 0;  // sums of squares up to here
  for (std::size_t i = 0; i < planned.size(); ++i) {
    double mean = 0, squares = 0;
    for (const auto& member : members) mean += member[i] / n;
    for (const auto& member : members) squares += (member[i] - mean) * (member[i] - mean);
    const double variance = n > 1 ? squares / (n - 1) : 0;
    distance += (mean - law[i]) * (mean - law[i]), doubt += of_variance * variance;
    const double share = most * (distance > 0 ? distance / (distance + doubt) : 1);
    out.centres.push_back(law[i] + share * (mean - law[i]));
    out.spread.push_back(std::sqrt(variance));
  }
  return out;
}

}  // namespace kolmo::predict
