#include "kolmo/tune/lookup.hpp"

#include <atomic>
#include <bit>
#include <ctime>
#include <memory>
#include <mutex>

#include "kolmo/op/chooser.hpp"
#include "kolmo/op/source_hash.hpp"
#include "kolmo/runtime/metrics.hpp"
#include "kolmo/runtime/monitor.hpp"
#include "kolmo/tune/call.hpp"
#include "kolmo/tune/drift.hpp"

namespace kolmo::tune {
namespace {

metrics::Counter& lookups(std::string_view kernel, const char* result) {
  return metrics::counter("kolmo_tuner_lookups_total", {{"kernel", std::string(kernel)}, {"result", result}},
                          "Calls by where their configuration came from");
}

metrics::Gauge& drift_ratio(std::string_view kernel) {
  return metrics::gauge("kolmo_tuner_drift_ratio", {{"kernel", std::string(kernel)}},
                        "Moving average of the times seen over the time tuned");
}

struct Known {
  RunOptions options;
  Origin origin;
  metrics::Counter &found, &found_stale, &found_near;
  metrics::Gauge& ratio;
  bool expired, drifted;
  Drift drift;
  const OpBase* op;
  Device device;
  CallNumbers numbers;
};

struct Operator {
  CallReader reader;
  std::uint64_t id;
  metrics::Counter& missed;
};

/// A hash table with open addressing, at most half full, immutable once published.
template <class Id, class Value>
class FixedMap {
 public:
  explicit FixedMap(std::size_t most) : slots_(std::bit_ceil(2 * most + 2)) {}
  void insert(Id id, Value* value) { *slot(*this, id) = {id, value}; }
  Value* find(Id id) const { return slot(*this, id)->value; }

 private:
  struct Slot {
    Id id{};
    Value* value = nullptr;
  };
  template <class Self>
  static auto slot(Self& self, Id id) -> decltype(&self.slots_[0]) {
    std::size_t at = std::hash<Id>{}(id)*0x9E3779B97F4A7C15u >> 20;
    while (true) {
      auto& s = self.slots_[at++ & (self.slots_.size() - 1)];
      if (!s.value || s.id == id) return &s;
    }
  }
  std::vector<Slot> slots_;
};

struct Table {
  FixedMap<const OpBase*, Operator> operators;
  FixedMap<std::uint64_t, Known> known;
  std::vector<Known*> all;
};

/// Holds calls without a result of their own, by hash, each with its neighbour, in memory of fixed size. When
/// it is full, further calls count as known and have no neighbour.
class Met {
 public:
  struct Slot {
    std::atomic<std::uint64_t> hash{0};
    std::atomic<Known*> neighbour{nullptr};
  };
  struct Place {
    Slot* slot;  // null if the table is full
    bool fresh;
  };
  Place insert(std::uint64_t hash) {
    for (std::size_t i = 0; i < 8; ++i) {
      Slot& slot = slots_[(hash + i) % slots_.size()];
      std::uint64_t there = slot.hash.load(std::memory_order_acquire);
      if (there == hash) return {&slot, false};
      if (there == 0 && slot.hash.compare_exchange_strong(there, hash, std::memory_order_acq_rel))
        return {&slot, true};
      if (there == hash) return {&slot, false};
    }
    return {nullptr, false};
  }
  void clear() {
    for (Slot& slot : slots_) {
      slot.neighbour.store(nullptr, std::memory_order_relaxed);
      slot.hash.store(0, std::memory_order_release);
    }
  }

 private:
  std::array<Slot, 8192> slots_{};
};

struct State {
  std::mutex mutex;
  std::vector<std::unique_ptr<Table>> tables;  // kept, since a thread may still be reading an old one
  std::vector<std::unique_ptr<Operator>> operators;
  std::vector<std::unique_ptr<Known>> known;
  std::vector<Missed> missed;
  std::string mode;
  Met met;
};
State& state() {
  static State& s = *new State;  // never destroyed: it must outlive every thread that runs operators
  return s;
}
constinit std::atomic<const Table*> current{nullptr};
constinit std::atomic<std::uint64_t> changes{0};

struct Call {
  const Operator& op;
  CallNumbers numbers;
};

void remember(const Call& call, const void* args, Device device, bool stale) {
  State& s = state();
  const OpBase& op = call.op.reader.op();
  Missed m{device, call.op.reader.key(call.numbers, source_hash(op.name, device.kind)),
           shape_of_call(op, args, device), stale};
  const std::scoped_lock lock(s.mutex);
  if (s.missed.size() < 4096) s.missed.push_back(std::move(m));
}

/// The known call that is least far from this one.
Known* neighbour_of(const Call& call, const Table& table, Device device) {
  constexpr double farthest = 2;  // in powers of two
  Known* nearest = nullptr;
  double least = farthest;
  for (Known* known : table.all) {
    if (known->op != &call.op.reader.op() || known->device != device) continue;
    const double d = call.op.reader.distance(call.numbers, known->numbers);
    if (d < least || (d == least && !nearest)) nearest = known, least = d;
  }
  return nearest;
}

Chosen choose(const OpBase& op, const void* args, Device device, int threads) {
  const Choice c = look_up(op, args, device, threads);
  return {c.options, c.call};
}

metrics::Counter& counter_of(const OpBase& op, Origin origin) {
  constexpr const char* results[] = {"hit", "foreign", "capability", "neighbour", "miss"};
  return lookups(op.name, results[std::size_t(origin)]);
}

}  // namespace

void name_variants(Profile& profile, const OpEntry& entry, DeviceKind kind) {
  const std::vector<Variant> rows = entry.variants(kind);
  for (auto& [id, config] : profile.configs)
    if (const auto row = config.params.extract("variant"))
      config.variant = rows.at(std::size_t(row.mapped())).name;
}

std::optional<RunOptions> options_of(const Profile::Config& config, const OpEntry& entry, DeviceKind kind) {
  RunOptions o;
  o.variant = entry.find_variant(kind, config.variant);
  for (const auto& [name, value] : config.params) {
    if (name != "threads" || kind != DeviceKind::cpu || value < 0 || value > 4096) return {};
    o.threads = int(value);
  }
  return o.variant >= 0 ? std::optional(o) : std::nullopt;
}

std::size_t use(const Store& store, std::span<const Device> devices, std::string_view mode) {
  struct Best {
    RunOptions options;
    const OpBase* op;
    Origin origin;
    bool expired, drifted;
    double seconds;
    std::int64_t created;
    Device device;
    CallNumbers numbers;
  };
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  std::map<const OpBase*, Operator*> operators;
  std::map<std::string, const OpEntry*, std::less<>> by_name;
  std::uint64_t id = 0;
  for (const OpEntry& e : all_ops()) {
    try {
      s.operators.push_back(std::unique_ptr<Operator>(
          new Operator{CallReader(*e.op), ++id * 0x9E3779B97F4A7C15u, counter_of(*e.op, Origin::none)}));
      operators[e.op] = s.operators.back().get();
      by_name[std::string(e.op->name)] = &e;
    } catch (const Unsupported&) {  // the operator cannot be tuned, and always runs with its default
    }
  }
  std::map<std::uint64_t, Best> best;
  const std::int64_t now = std::time(nullptr);
  const auto found = store.all();
  for (const Device device : devices) {
    const Environment here = environment_of(device, mode);
    for (const Store::Found& f : found) {
      const Origin origin = Store::origin(here, f.environment);
      const auto entry = by_name.find(f.profile.key.kernel);
      if (origin == Origin::none || entry == by_name.end() ||
          f.profile.key.kernel_hash != source_hash(entry->first, device.kind))
        continue;
      const Operator& op = *operators[entry->second->op];
      const auto numbers = op.reader.numbers(f.profile.key);
      const auto options = options_of(f.profile.winning(), *entry->second, device.kind);
      if (!numbers || !options) continue;
      const Best b{*options,
                   entry->second->op,
                   origin,
                   f.profile.expires < now,
                   f.profile.stale,
                   f.profile.winning().finding.seconds.median,
                   f.profile.created,
                   device,
                   *numbers};
      auto [slot, fresh] = best.try_emplace(numbers->hash(op.id, device), b);
      if (!fresh && (b.origin < slot->second.origin ||
                     (b.origin == slot->second.origin && b.created > slot->second.created)))
        slot->second = b;
    }
  }
  auto table = std::make_unique<Table>(Table{
      FixedMap<const OpBase*, Operator>(operators.size()), FixedMap<std::uint64_t, Known>(best.size()), {}});
  for (const auto& [op, reader] : operators) table->operators.insert(op, reader);
  for (const auto& [hash, b] : best) {
    s.known.push_back(std::unique_ptr<Known>(
        new Known{b.options, b.origin, counter_of(*b.op, b.origin), lookups(b.op->name, "stale"),
                  counter_of(*b.op, Origin::neighbour), drift_ratio(b.op->name), b.expired, b.drifted,
                  Drift(b.seconds), b.op, b.device, b.numbers}));
    table->known.insert(hash, s.known.back().get());
    table->all.push_back(s.known.back().get());
  }
  s.mode = mode;
  s.missed.clear();
  s.met.clear();
  s.tables.push_back(std::move(table));
  current.store(s.tables.back().get(), std::memory_order_release);
  changes.fetch_add(1, std::memory_order_relaxed);
  chooser.store(choose, std::memory_order_release);
  monitor::on_timed.store(observe, std::memory_order_release);
  return best.size();
}

void stop_using() {
  chooser.store(nullptr, std::memory_order_release);
  monitor::on_timed.store(nullptr, std::memory_order_release);
  current.store(nullptr, std::memory_order_release);
  changes.fetch_add(1, std::memory_order_relaxed);
}

Choice peek(const OpBase& op, const void* args, Device device, int threads) {
  const Table* table = current.load(std::memory_order_acquire);
  const Operator* entry = table ? table->operators.find(&op) : nullptr;
  if (!entry) return {};
  const Call call{*entry, entry->reader.read(args, device.kind == DeviceKind::cpu ? threads : 0)};
  if (const Known* known = table->known.find(call.numbers.hash(entry->id, device)))
    return known->drifted || known->drift.stale() ? Choice{{}, Origin::none, true}
                                                  : Choice{known->options, known->origin};
  const Known* near = neighbour_of(call, *table, device);
  return near ? Choice{near->options, Origin::neighbour} : Choice{};
}

std::uint64_t epoch() { return changes.load(std::memory_order_relaxed); }

Choice look_up(const OpBase& op, const void* args, Device device, int threads) {
  const Table* table = current.load(std::memory_order_acquire);
  const Operator* entry = table ? table->operators.find(&op) : nullptr;
  if (!entry) return {};
  const Call call{*entry, entry->reader.read(args, device.kind == DeviceKind::cpu ? threads : 0)};
  const std::uint64_t hash = call.numbers.hash(entry->id, device);
  Known* known = table->known.find(hash);
  Met& met = state().met;
  if (!known) {
    const auto [slot, fresh] = met.insert(hash | 1);
    if (fresh) {
      slot->neighbour.store(neighbour_of(call, *table, device), std::memory_order_release);
      remember(call, args, device, false);
    }
    const Known* near = slot ? slot->neighbour.load(std::memory_order_acquire) : nullptr;
    (near ? near->found_near : entry->missed).add();
    return near ? Choice{near->options, Origin::neighbour} : Choice{};
  }
  const bool stale = known->expired || known->drifted || known->drift.stale();
  (stale ? known->found_stale : known->found).add();
  if (stale && met.insert(hash | 1).fresh) remember(call, args, device, true);
  if (known->drifted || known->drift.stale()) return {{}, Origin::none, true};
  return {known->options, known->origin, stale, hash};
}

void observe(std::uint64_t call, double seconds) {
  const Table* table = current.load(std::memory_order_acquire);
  Known* known = table ? table->known.find(call) : nullptr;
  if (!known) return;
  known->drift.add(seconds);
  known->ratio.set(known->drift.ratio());
}

std::vector<Missed> missed() {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  return s.missed;
}

std::size_t record_misses(Store& store) {
  const auto all = missed();
  std::string mode;
  {
    const std::scoped_lock lock(state().mutex);
    mode = state().mode;
  }
  for (const Missed& m : all) {
    const Environment here = environment_of(m.device, mode);
    store.add_miss(here, {m.key, m.call});
    auto known = m.stale ? store.get(here, m.key) : std::nullopt;
    if (!known || known->stale) continue;
    known->stale = true;
    store.put(here, *known);
  }
  return all.size();
}

}  // namespace kolmo::tune
