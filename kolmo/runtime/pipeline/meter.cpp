#include "kolmo/runtime/pipeline/meter.hpp"

#include <algorithm>

namespace kolmo {

StageSeconds& StageSeconds::operator+=(const StageSeconds& o) {
  fill += o.fill, upload += o.upload, compute += o.compute, download += o.download, read += o.read;
  return *this;
}

std::array<double, 3> at_once(const std::vector<StageTimes>& parts) {
  std::vector<std::pair<double, int>> changes;  // for equal times, ends come before begins
  for (const StageTimes& t : parts)
    for (std::size_t i = 0; i < t.size(); ++i) changes.emplace_back(t[i], i % 2 ? -1 : 1);
  std::sort(changes.begin(), changes.end());
  std::array<double, 3> seconds{};
  int running = 0;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    running += changes[i].second;
    for (int n = 0; n < std::min(running, 3); ++n)
      seconds[std::size_t(n)] += changes[i + 1].first - changes[i].first;
  }
  const double all = changes.empty() ? 0 : changes.back().first - changes.front().first;
  for (double& s : seconds) s = all > 0 ? s / all : 0;
  return seconds;
}

namespace detail {
namespace {

constexpr std::string_view stage_names[] = {"fill", "upload", "compute", "download", "read"};

std::array<double, 5> values(const StageSeconds& s) {
  return {s.fill, s.upload, s.compute, s.download, s.read};
}
double device_sum(const StageSeconds& s) { return s.upload + s.compute + s.download; }

metrics::Histogram* stage_histogram(const std::string& pipeline, std::string_view stage) {
  return &metrics::histogram("kolmo_pipeline_stage_seconds",
                             {{"pipeline", pipeline}, {"stage", std::string(stage)}},
                             "Time of an item or part in a stage of the pipeline, sampled");
}
metrics::Counter* result_counter(const std::string& pipeline, const char* result) {
  return &metrics::counter("kolmo_pipeline_items_total", {{"pipeline", pipeline}, {"result", result}},
                           "Items by what became of them");
}

}  // namespace

PipelineMeter::PipelineMeter(const std::string& name, int slots, double objective)
    : slots_(slots),
      shared_latency_(metrics::histogram("kolmo_pipeline_latency_seconds", {{"pipeline", name}},
                                         "Time from submission to result")),
      shared_results_{result_counter(name, "done"), result_counter(name, "failed"),
                      result_counter(name, "dropped"), result_counter(name, "rejected")},
      shared_inflight_(
          metrics::gauge("kolmo_pipeline_inflight", {{"pipeline", name}}, "Slots of the pipeline in use")),
      shared_queue_(metrics::gauge("kolmo_pipeline_queue_length", {{"pipeline", name}},
                                   "Items waiting for a slot of the pipeline")),
      shared_overlap_(metrics::gauge("kolmo_pipeline_overlap_ratio", {{"pipeline", name}},
                                     "Device seconds of all stages over wall time")) {
  for (std::size_t i = 0; i < shared_stages_.size(); ++i)
    shared_stages_[i] = stage_histogram(name, stage_names[i]);
  totals_.objective = objective;
}

void PipelineMeter::submitted(double now) {
  if (!totals_.submitted++) first_submit_ = now;
}

void PipelineMeter::rejected() {
  ++totals_.rejected;
  shared_results_[3]->add();
}

void PipelineMeter::timed_part(const StageSeconds& seconds, const StageTimes& times) {
  ++timed_;
  if (first_.size() < all_timed) first_.push_back(times);
  sum_ += seconds;
  const auto all = values(seconds);
  for (std::size_t i = 0; i < all.size(); ++i) shared_stages_[i]->record(all[i]);
}

void PipelineMeter::result(PipelineOutcome outcome, double latency, double now) {
  std::uint64_t* const counts[] = {&totals_.done, &totals_.failed, &totals_.dropped};
  ++*counts[std::size_t(outcome)];
  shared_results_[std::size_t(outcome)]->add();
  last_result_ = now;
  if (outcome != PipelineOutcome::done) return;
  within_ += latency <= totals_.objective;
  latency_.record(latency);
  shared_latency_.record(latency);
  if (times_next()) shared_overlap_.set(overlap());
}

void PipelineMeter::levels(std::size_t inflight, std::size_t queued, bool starved, double now) {
  shared_inflight_.set(double(inflight));
  shared_queue_.set(double(queued));
  if (starved_since_ >= 0 && !starved) starved_ += now - starved_since_;
  if (!starved) starved_since_ = -1;
  if (starved && starved_since_ < 0) starved_since_ = now;
}

PipelineReport PipelineMeter::report() const {
  PipelineReport r = totals_;
  if (timed_) r.mean = sum_ / double(timed_);
  r.wall = wall();
  r.at_once = at_once(first_);
  if (!r.parts || r.wall <= 0) return r;
  const double still = starved_since_ >= 0 ? std::max(0., last_result_ - starved_since_) : 0;
  r.starved = (starved_ + still) / r.wall;
  const double alone = std::max({r.alone.upload, r.alone.compute, r.alone.download});
  const double shared = std::max({alone, r.together.upload, r.together.download});
  r.efficiency = alone * double(r.parts) / r.wall;
  r.efficiency_limit = shared > 0 ? alone / shared : 0;
  r.overlap = overlap();
  r.bound = bound(r);
  const metrics::HistogramData latencies = latency_.read();
  r.p50 = latencies.quantile(.5), r.p95 = latencies.quantile(.95), r.p99 = latencies.quantile(.99);
  if (r.done) r.within_objective = double(within_) / double(r.done);
  return r;
}

double PipelineMeter::overlap() const {
  if (!timed_ || wall() <= 0) return 0;
  return device_sum(sum_) / double(timed_) * double(totals_.parts) / wall();
}

std::string_view PipelineMeter::bound(const PipelineReport& r) const {
  if (r.starved > .1) return "arrivals";
  StageSeconds s = r.mean;
  if (device_sum(r.alone) > 0)
    s.upload = std::max(r.alone.upload, r.together.upload), s.compute = r.alone.compute,
    s.download = std::max(r.alone.download, r.together.download);
  const auto all = values(s);
  const auto longest = std::max_element(all.begin(), all.end());
  const double slot = (s.fill + device_sum(s) + s.read) / slots_;
  if (std::max(slot, *longest) < .75 * r.wall / double(r.parts)) return "host";
  return slot > 1.05 * *longest ? "slots" : stage_names[longest - all.begin()];
}

}  // namespace detail
}  // namespace kolmo
