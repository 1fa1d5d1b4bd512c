#include "kolmo/tune/tune_call.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "kolmo/op/changed.hpp"
#include "kolmo/op/source_hash.hpp"
#include "kolmo/runtime/metrics.hpp"
#include "kolmo/tune/call.hpp"
#include "kolmo/tune/lookup.hpp"

namespace kolmo::tune {
namespace {

Space space_of(const OpBase& op, const void* args, const Stream& stream, std::size_t variants,
               const std::function<bool(int)>& feasible) {
  const OpEntry& entry = entry_of(op);
  const DeviceKind kind = stream.device().kind;
  std::vector<std::int64_t> rows(variants);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::int64_t(i);
  std::vector<Parameter> parameters{{"variant", rows}};
  if (kind == DeviceKind::cpu) {
    Parameter threads{"threads", {}};
    for (int t = 1; t < stream.threads(); t *= 2) threads.values.push_back(t);
    threads.values.push_back(0);  // 0 stands for all threads of the stream
    parameters.push_back(std::move(threads));
  }
  return Space(std::move(parameters), [&](const Values& v) {
    return entry.fits(args, kind, int(v[0])) && (!feasible || feasible(int(v[0])));
  });
}

/// Times the second call: the first one includes loading code and touching memory.
double seconds_of_default(const OpBase& op, const void* args, Stream& stream, ChangedTensors& changed) {
  const RunOptions first{entry_of(op).default_variant(args, stream.device().kind)};
  double seconds = 0;
  for (int i = 0; i < 2; ++i) {
    changed.restore(1);
    stream.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    run(op, args, stream, first);
    stream.synchronize();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return seconds;
}

Key key_of(const OpBase& op, const void* args, const Stream& stream) {
  const CallReader reader(op);
  const DeviceKind kind = stream.device().kind;
  return reader.key(reader.read(args, kind == DeviceKind::cpu ? stream.threads() : 0),
                    source_hash(op.name, kind));
}

void count(const OpBase& op, const Tuning& t, bool changed) {
  const std::string kernel(op.name);
  const auto trials = [](const char* outcome) -> metrics::Counter& {
    return metrics::counter("kolmo_tuner_trials_total", {{"outcome", outcome}}, "Samples of candidates");
  };
  trials("measured").add(double(t.samples - t.discarded));
  trials("discarded").add(double(t.discarded));
  trials("failed").add(double(std::count_if(t.findings.begin(), t.findings.end(),
                                            [](const Finding& f) { return !f.error.empty(); })));
  if (changed)
    metrics::counter("kolmo_tuner_config_changes_total", {{"kernel", kernel}}, "Configurations replaced")
        .add();
  const auto speedup = [&](const char* baseline, double ratio) {
    metrics::gauge("kolmo_tuner_speedup_ratio", {{"kernel", kernel}, {"baseline", baseline}},
                   "Time of the baseline over the tuned one, last tuning")
        .set(ratio);
  };
  speedup("default", t.speedup());
  const Finding* naive = t.naive >= 0 ? t.find(std::size_t(t.naive)) : nullptr;
  if (naive && naive->samples) speedup("naive", t.speedup() / naive->gain.median);
}

}  // namespace

CallSpace::CallSpace(const OpBase& op, const void* args, const Stream& stream,
                     const std::function<bool(int)>& feasible)
    : variants_(entry_of(op).variants(stream.device().kind)),
      space_(space_of(op, args, stream, variants_.size(), feasible)),
      standard_(find(RunOptions{entry_of(op).default_variant(args, stream.device().kind)})) {}

Candidate CallSpace::operator[](std::size_t config) const {
  const Values v = space_.values(config);
  Candidate c{{int(v[0]), v.size() > 1 ? int(v[1]) : 0}, std::string(variants_[std::size_t(v[0])].name)};
  if (c.label.empty()) c.label = "default";
  if (c.options.threads)
    c.label += ", " + std::to_string(c.options.threads) + (c.options.threads == 1 ? " thread" : " threads");
  return c;
}

std::size_t CallSpace::standard() const {
  if (standard_ >= 0) return std::size_t(standard_);
  for (std::size_t c = 0; c < space_.size(); ++c)
    if ((*this)[c].options.threads == 0) return c;
  return 0;
}

int CallSpace::find(const RunOptions& o) const {
  Values values{o.variant};
  if (space_.parameters().size() > 1) values.push_back(o.threads);
  const std::size_t c = space_.find(values);
  return c < space_.size() ? int(c) : -1;
}

bool CallSpace::vendor(std::size_t config) const {
  return variants_[std::size_t((*this)[config].options.variant)].vendor;
}

int CallSpace::naive() const {
  for (std::size_t v = 0; v < variants_.size(); ++v)
    if (const int c = find(RunOptions{int(v), 0}); variants_[v].naive && c >= 0) return c;
  return -1;
}

Mode default_mode(DeviceKind kind) { return kind == DeviceKind::cuda ? Mode::stream_cold : Mode::stream_hot; }

TunedCall tune_call(const OpBase& op, const void* given, Stream& stream, const CallOptions& options,
                    const Store* known, const std::function<std::unique_ptr<Measurer>(Measurer&)>& around) {
  require(!stream.capturing(), std::string(op.name) + ": cannot be tuned while its stream is captured");
  const auto* bytes = static_cast<const std::byte*>(given);
  std::vector<std::byte> own(bytes, bytes + op.args_size());
  const void* const args = own.data();
  ChangedTensors changed(op, own.data(), stream);
  const auto rows = entry_of(op).variants(stream.device().kind);
  const bool with_naive =
      !around && 100 * seconds_of_default(op, args, stream, changed) < options.search.budget;
  TunedCall tuned{CallSpace(op, args, stream,
                            [&](int v) {
                              return (with_naive || !rows[std::size_t(v)].naive) &&
                                     (!options.feasible || options.feasible(v));
                            }),
                  environment_of(stream.device(), to_string(options.measure.mode)),
                  {},
                  {}};
  const CallSpace& space = tuned.space;
  const Key key = key_of(op, args, stream);

  TuneOptions search = options.search;
  search.standard = space.standard(), search.naive = space.naive();
  if (const auto before = known ? known->get(tuned.environment, key) : std::nullopt) {
    if (const auto o = options_of(before->winning(), entry_of(op), stream.device().kind))
      search.incumbent = space.find(*o);
  }
  if (options.verify)
    search.verify = [&](std::size_t c) { return options.verify(op, given, space[c].options); };
  MeasureOptions measure = options.measure;
  measure.warm_up = std::min(measure.warm_up, 0.1 * search.budget);
  if (!measure.clocks && stream.device().kind == DeviceKind::cuda)
    measure.clocks = [device = stream.device()] { return gpu_clocks(device); };
  const bool replayed = measure.mode == Mode::graph_hot || measure.mode == Mode::graph_cold;
  int next = 0;
  StreamMeasurer measurer(
      stream,
      [&](std::size_t c) {
        changed.use(next++);
        run(op, args, stream, space[c].options);
      },
      measure,
      [&](int calls) {
        calls = changed.reserve(calls);
        if (replayed && changed.any()) calls = 1;
        changed.restore(calls);
        next = 0;
        return calls;
      });
  const std::unique_ptr<Measurer> outer = around ? around(measurer) : nullptr;
  tuned.tuning = tune(op.name, space.space(), outer ? *outer : measurer, search);
  if (2 * measurer.disturbed() > measurer.samples())
    fail<Busy>(std::string(op.name) + ": not tuned: other work on this machine disturbed " +
               std::to_string(measurer.disturbed()) + " of " + std::to_string(measurer.samples()) +
               " samples");
  const std::size_t before = search.incumbent >= 0 ? std::size_t(search.incumbent) : search.standard;
  count(op, tuned.tuning, tuned.tuning.winner != before);

  tuned.profile =
      make_profile(key, space.space(), tuned.tuning, [&](std::size_t c) { return space[c].label; });
  name_variants(tuned.profile, entry_of(op), stream.device().kind);
  if (!measurer.clock_hertz().empty()) {
    tuned.profile.sm_clock_hertz = median(measurer.clock_hertz());
    tuned.profile.lowest_sm_clock_hertz = quantile(measurer.clock_hertz(), 0);
  }
  tuned.profile.temperature_celsius = measurer.temperature_celsius();
  tuned.profile.throttled = measurer.throttled();
  return tuned;
}

void keep(const TunedCall& tuned, Store& store) {
  if (!tuned.tuning.decided) return;
  store.put(tuned.environment, tuned.profile);
  store.remove_miss(tuned.environment, tuned.profile.key);
}

void require_writable(const OpBase& op, const void* args, const Stream& stream, Mode mode,
                      const Store& store) {
  store.require_writable(environment_of(stream.device(), to_string(mode)), key_of(op, args, stream));
}

bool fresh(const OpBase& op, const void* args, const Stream& stream, Mode mode, const Store& store) {
  const auto p = store.get(environment_of(stream.device(), to_string(mode)), key_of(op, args, stream));
  return p && !p->stale && p->expires > std::time(nullptr);
}

std::size_t tune_at_startup(std::span<const PlannedCall> calls, Stream& stream, Store& store, double seconds,
                            const CallOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  std::size_t tuned = 0;
  for (const PlannedCall& call : calls) {
    const double left =
        seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (left <= 0) break;
    if (fresh(*call.op, call.args, stream, options.measure.mode, store)) continue;
    require_writable(*call.op, call.args, stream, options.measure.mode, store);
    CallOptions o = options;
    o.search.budget = std::min(o.search.budget, left);
    const TunedCall result = tune_call(*call.op, call.args, stream, o, &store);
    keep(result, store);
    tuned += result.tuning.decided;
  }
  const Device devices[] = {stream.device()};
  use(store, devices, to_string(options.measure.mode));
  return tuned;
}

}  // namespace kolmo::tune
