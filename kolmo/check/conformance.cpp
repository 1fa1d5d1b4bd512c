#include "kolmo/check/conformance.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/check/compare.hpp"
#include "kolmo/check/placement.hpp"
#include "kolmo/check/refusals.hpp"
#include "kolmo/check/sanitized.hpp"
#include "kolmo/check/self_check.hpp"
#include "kolmo/runtime/device.hpp"

namespace kolmo::check {
namespace {

std::string text(std::string_view s) { return std::string(s); }

/// Which aspects are checked. The emulated GPU takes a thousand times as long as a GPU. There only the
/// results are checked of heavy cases, for one draw of the inputs, and with AddressSanitizer of all cases;
/// the other aspects would run the same kernels again.
std::string_view aspects_of(const CaseInfo& c, DeviceKind kind, std::string_view only) {
  return only.empty() && kind == DeviceKind::simt && (c.heavy || sanitized) ? "result" : only;
}

/// The checks of one case on one device; collects its findings in `results`.
class CaseCheck {
 public:
  CaseCheck(const OpEntry& entry, const OracleBase& oracle, std::size_t index, Device device, int threads,
            std::string_view only)
      : entry_(entry.of(entry.op->cases()[index])),
        op_(*entry.op),
        determinism_(entry_.determinism()),
        threads_(threads),
        only_(aspects_of(op_.cases()[index], device.kind, only)),
        index_(index),
        problem_(op_, op_.cases()[index], index),
        other_(op_, op_.cases()[index], index, 2),
        want_(oracle, problem_),
        want_other_(oracle, other_),
        stream_(device, 1),
        one_draw_(only_ == "result" && op_.cases()[index].heavy && device.kind == DeviceKind::simt) {}

  Results results;

  void run_all() {
    aspect("cost", [&] { cost_is_sane(); });
    aspect("arguments", [&] { check_refusals(entry_, problem_, stream_); });
    if (determinism_ == Determinism::everywhere) reference_ = on_the_cpu();
    const auto rows = entry_.variants(kind());
    const auto fitting = entry_.fitting(problem_.args(), kind());
    if (fitting.empty())
      aspect("result", [&] { fail<Error>("no variant fits this case on " + to_string(stream_.device())); });
    for (const int v : fitting) {
      options_.variant = v;
      variant_ = text(rows[std::size_t(v)].name);
      run_variant();
    }
  }

 private:
  void run_variant() {
    try {
      first_ = direct(problem_, stream_);
      if (!one_draw_) second_ = direct(other_, stream_);
    } catch (const std::exception& e) {  // nothing else can be checked
      return add("result", e.what());
    }
    aspect("result", [&] {
      const Comparison c = want_.compare(problem_, first_.outputs);
      const Comparison d = one_draw_ ? Comparison() : want_other_.compare(other_, second_.outputs);
      results.back().max_error = std::max(c.max_error, d.max_error);
      expect(c.message.empty(), c.message);
      expect(d.message.empty(), "with other inputs: " + d.message);
      expect(c.finite + d.finite > 0, "no finite number was compared");
    });
    aspect("memory", [&] { memory_is_intact(); });
    aspect("workspace", [&] { workspace_is_kept(); });
    aspect("repeat", [&] {
      const Outcome again = direct(problem_, stream_, Poison::large);
      const std::string missing = unwritten(op_, first_.outputs, &again.outputs);
      expect(missing.empty(), missing);
      if (determinism_ != Determinism::none) expect_bits(again, first_, "");
    });
    if (determinism_ == Determinism::everywhere && !(on_cpu() && options_.variant == 0))
      aspect("same bits", [&] { expect_bits(first_, reference_, "differs from the CPU: "); });
    if (on_cpu()) aspect("threads", [&] { several_threads(); });
    if (op_.in_place) in_place();
    aspect("stream", [&] { fresh_stream(); });
    aspect("graph", [&] { graph(); });
    for (const auto name : problem_.sizes())
      if (can_be_empty(problem_, name))
        aspect("empty " + text(name),
               [&] { check_empty(entry_, problem_.info(), index_, name, stream_, options_); });
  }

  DeviceKind kind() const { return stream_.device().kind; }
  bool on_cpu() const { return kind() == DeviceKind::cpu; }

  void aspect(const std::string& name, const std::function<void()>& check) {
    if (!only_.empty() && name != only_) return;
    add(name);
    const std::size_t at = results.size() - 1;
    try {
      check();
    } catch (const std::exception& e) {
      results[at].ok = false;
      results[at].message = e.what();
    }
  }
  void add(const std::string& name, const std::string& fault = {}) {
    results.push_back({text(op_.name), text(problem_.info().name), to_string(stream_.device()), variant_,
                       name, fault.empty(), fault, 0});
  }

  Outcome direct(const Problem& problem, Stream& stream, Poison poison = Poison::nan) {
    Placement placed(problem, stream, poison);
    run(entry_, placed.args(), stream, options_);
    return placed.collect(stream);
  }

  Outcome on_the_cpu() {
    Stream cpu(Device{}, 1);
    Placement placed(problem_, cpu);
    run(entry_, placed.args(), cpu);
    return placed.collect(cpu);
  }

  void expect_bits(const Outcome& got, const Outcome& want, const std::string& what) {
    const std::string difference = bit_difference(op_, got.outputs, want.outputs);
    expect(difference.empty(), what + difference);
  }

  /// Compares a run of problem_ (or other_) with `want`: bit for bit if the operator claims that, else by the
  /// tolerance.
  void expect_same(const Outcome& got, const Outcome& want, const std::string& what = {}) {
    if (determinism_ != Determinism::none) return expect_bits(got, want, what);
    const bool first = &want == &first_;
    const Comparison c = (first ? want_ : want_other_).compare(first ? problem_ : other_, got.outputs);
    expect(c.message.empty(), what + c.message);
  }

  void cost_is_sane() {
    const double flops = op_.flops(problem_.args());
    expect(std::isfinite(flops) && flops >= 0, "flops are " + std::to_string(flops));
  }

  std::size_t workspace_bytes() const {
    return entry_.impl(kind())->workspace(problem_.args(),
                                          {stream_.device(), options_.variant, stream_.threads()});
  }

  void memory_is_intact() {
    expect(first_.damage.empty(), "it wrote to" + first_.damage);
    Placement placed(problem_, stream_);
    const auto before = pool_stats(stream_.device()).allocations;
    run(entry_, placed.args(), stream_, options_);
    const auto allocations = pool_stats(stream_.device()).allocations - before;
    stream_.synchronize();
    expect(allocations <= (workspace_bytes() ? 1 : 0),
           "it made " + std::to_string(allocations) + " allocations: scratch belongs in its workspace");
  }

  void workspace_is_kept() {
    const std::size_t bytes = workspace_bytes();
    if (!bytes) return;
    Placement placed(problem_, stream_);
    GuardedBytes workspace(bytes, stream_);
    entry_.impl(kind())->launch(placed.args(), Arena(workspace.data()), stream_, options_.variant);
    const Outcome outcome = placed.collect(stream_);
    expect(workspace.intact(stream_),
           "it wrote outside its workspace of " + std::to_string(bytes) + " bytes");
    expect_same(outcome, first_, "the result depends on what the workspace held: ");
  }

  void several_threads() {
    Stream stream(Device{}, threads_);
    const Outcome outcome = direct(problem_, stream);
    if (determinism_ == Determinism::everywhere) return expect_bits(outcome, first_, "several threads: ");
    const Comparison c = want_.compare(problem_, outcome.outputs);
    expect(c.message.empty(), "several threads: " + c.message);
  }

  void in_place() {
    const auto fields = op_.fields();
    for (std::size_t o = 0; o < fields.size(); ++o)
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if (!in_place_pair(problem_, o, i)) continue;
        aspect("in place " + text(fields[o].name) + "=" + text(fields[i].name), [&] {
          const Placement::Alias alias{o, i};
          Placement placed(problem_, stream_, Poison::nan, &alias);
          run(entry_, placed.args(), stream_, options_);
          Outcome outcome = placed.collect(stream_);
          expect(outcome.damage.empty(), "it wrote to" + outcome.damage);
          outcome.outputs[o] = std::move(outcome.outputs[i]);
          outcome.outputs[i] = Array();
          expect_same(outcome, first_);
        });
      }
  }

  void fresh_stream() {
    Placement ready(problem_, stream_), placed(other_, stream_);
    stream_.synchronize();
    Stream fresh(stream_.device(), stream_.threads());
    // On a GPU this keeps the stream busy for about a millisecond, so that work that does not wait for the
    // stream reads old inputs.
    const Buffer big(stream_.device().kind == DeviceKind::cuda ? 1u << 28 : 1u << 10, fresh);
    for (int i = 0; i < 16; ++i) fresh.fill(big.as(DType::u8, std::vector<std::size_t>{big.bytes()}), i);
    placed.load(ready, fresh);
    run(entry_, placed.args(), fresh, options_);
    const Outcome outcome = placed.collect(fresh);
    expect_same(outcome, first_, "on a busy stream: ");
  }

  void graph() {
    Placement ready(problem_, stream_), changed(other_, stream_), placed(other_, stream_);
    Stream stream(stream_.device(), stream_.threads());
    Graph replay = capture(stream, [&] { run(entry_, placed.args(), stream, options_); });
    expect(placed.untouched(placed.collect(stream)), "it ran while it was captured");
    const auto launch = [&](const Placement& inputs, const Outcome& want, const char* what) {
      placed.load(inputs, stream);
      replay.launch(stream);
      const Outcome outcome = placed.collect(stream);
      expect(outcome.damage.empty(), what + (" wrote to" + outcome.damage));
      expect_same(outcome, want, std::string(what) + ": ");
    };
    launch(ready, first_, "replay");
    launch(changed, second_, "replay with other inputs");
    launch(ready, first_, "third replay");
  }

  const OpEntry entry_;
  const OpBase& op_;
  const Determinism determinism_;
  int threads_;
  std::string_view only_;
  std::size_t index_;
  Problem problem_, other_;
  Truth want_, want_other_;
  Stream stream_;
  const bool one_draw_;
  RunOptions options_;
  std::string variant_;
  Outcome first_, second_, reference_;
};

Result failure(const OpEntry& entry, std::string_view case_name, Device device, const char* aspect,
               const std::string& why) {
  return {text(entry.op->name), text(case_name), to_string(device), {}, aspect, false, why, 0};
}

}  // namespace

Results check_case(const OpEntry& entry, const OracleBase& oracle, std::size_t index, Device device,
                   int threads, std::string_view only) {
  const std::string_view name = entry.op->cases()[index].name;
  try {
    CaseCheck check(entry, oracle, index, device, threads, only);
    check.run_all();
    return std::move(check.results);
  } catch (const std::exception& e) {
    return {failure(entry, name, device, "setup", e.what())};
  }
}

Results check_facts(const OpEntry& entry, const OracleBase& oracle, Device device, int threads) {
  Results results;
  for (const Fact& fact : oracle.facts) {
    Result r{text(entry.op->name), text(fact.name), to_string(device), {}, "fact", true, {}, 0};
    try {
      Stream stream(device, threads);
      fact.run(stream);
    } catch (const std::exception& e) {
      r.ok = false, r.message = e.what();
    }
    results.push_back(std::move(r));
  }
  return results;
}

Results check_reach(const OpEntry& entry, Device device) {
  const OpBase& op = *entry.op;
  const auto variants = entry.variants(device.kind);
  std::vector<bool> reached(variants.size());
  const auto cases = op.cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].benchmark_only) continue;
    const Problem problem(op, cases[i], i);
    for (const int v : entry.of(cases[i]).fitting(problem.args(), device.kind))
      reached[std::size_t(v)] = true;
  }
  const bool hopper = device.kind == DeviceKind::cuda && device_info(device).capability == "9.0";
  Results results;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    if (variants[v].vendor || (variants[v].hardware_only && !hopper)) continue;
    results.push_back({text(op.name),
                       {},
                       to_string(device),
                       text(variants[v].name),
                       "reached",
                       reached[v],
                       reached[v] ? "" : "it fits none of the cases",
                       0});
  }
  return results;
}

Results check_op(const OpEntry& entry, Device device, int threads,
                 const std::function<void(const Result&)>& each, std::string_view only) {
  return check_op(entry, oracle_of(*entry.op), device, threads, each, only);
}

Results check_op(const OpEntry& entry, const OracleBase& oracle, Device device, int threads,
                 const std::function<void(const Result&)>& each, std::string_view only) {
  Results all;
  const auto add = [&](Results more) {
    for (Result& r : more) {
      each(r);
      all.push_back(std::move(r));
    }
  };
  Results definition = entry.alias ? Results() : check_definition(entry);
  const bool of_definition =
      std::any_of(definition.begin(), definition.end(), [&](const Result& r) { return r.aspect == only; });
  if (of_definition) std::erase_if(definition, [&](const Result& r) { return r.aspect != only; });
  add(std::move(definition));
  const std::size_t before = all.size();
  const auto cases = entry.op->cases();
  const bool of_cases = only != "reached" && (!of_definition || only == "cost");
  for (std::size_t i = 0; i < cases.size() && of_cases; ++i)
    if (!cases[i].benchmark_only && entry.has(cases[i]))
      add(check_case(entry, oracle, i, device, threads, only));
  if (only.empty() && all.size() == before)
    add({failure(entry, "", device, "cases",
                 text(entry.name()) + " has no case that is small enough to be checked")});
  if (!entry.alias && (only.empty() || only == "reached")) add(check_reach(entry, device));
  if (!entry.alias && (only.empty() || only == "result")) add(check_facts(entry, oracle, device, threads));
  if (!only.empty() && !of_definition && all.size() == before)
    add({failure(entry, "", device, "cases",
                 "no check of " + text(entry.name()) + " is called '" + text(only) + "'")});
  return all;
}

}  // namespace kolmo::check
