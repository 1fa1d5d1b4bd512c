#include "kolmo/check/self_check.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "kolmo/check/problem.hpp"
#include "kolmo/op/bind.hpp"

namespace kolmo::check {
namespace {

using Names = std::vector<std::string_view>;

bool among(const Names& all, std::string_view name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

/// Reserved words of C++, its macros and functions in the global namespace, and those of Python. tools/new_op
/// reads them too.
constexpr std::string_view reserved =
    "alignas alignof and and_eq as asm assert async auto await bitand bitor bool break case catch char "
    "char16_t char32_t char8_t class co_await co_return co_yield compl concept const const_cast consteval "
    "constexpr constinit continue decltype def default del delete do double dynamic_cast elif else enum "
    "errno except explicit export extern false final finally float for friend from global goto if import "
    "in inline int is lambda linux long main module mutable namespace new noexcept nonlocal not not_eq "
    "nullptr offsetof operator or or_eq override pass private protected public raise register "
    "reinterpret_cast requires restrict return setjmp short signed sizeof static static_assert "
    "static_cast std stderr stdin stdout struct switch template this thread_local throw true try typedef "
    "typeid typename union unix unsigned using va_arg va_copy va_end va_start virtual void volatile "
    "wchar_t while with xor xor_eq yield ";

/// Whether a name has only lower case letters, digits and _, and is not a reserved word.
bool usable(std::string_view name) {
  static const Names kept = words(reserved);
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) && !among(kept, name) &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == name.npos;
}

bool filled_in(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = char(std::tolower(static_cast<unsigned char>(c)));
  return lower.find_first_not_of(" .") != lower.npos && lower.find("fill in") == lower.npos &&
         lower.find("todo") == lower.npos;
}

/// Collects the faults of one aspect.
class Faults {
 public:
  void expect(bool ok, const std::string& fault) {
    if (!ok) all_ += (all_.empty() ? "" : "; ") + fault;
  }
  /// Records a name, and a fault if it occurs twice.
  void once(Names& seen, std::string_view name, const std::string& what) {
    expect(!among(seen, name), what + " '" + std::string(name) + "' is there twice");
    seen.push_back(name);
  }
  void known(const Names& all, std::string_view name, const std::string& what) {
    expect(among(all, name), what + " '" + std::string(name) + "', which is none");
  }
  const std::string& text() const { return all_; }

 private:
  std::string all_;
};

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

class SelfCheck {
 public:
  explicit SelfCheck(const OpEntry& entry) : entry_(entry), op_(*entry.op), fields_(op_.fields()) {
    for (const FieldInfo& f : fields_) {
      if (f.kind == FieldKind::integer) sizes_.push_back(f.name);
      if (!f.is_tensor()) continue;
      if (f.optional) optional_.push_back(f.name);
      if (f.is_output()) outputs_.push_back(f.name);
      if (!f.dtypes.single() && !f.dtypes.real_part) variables_.push_back(f.dtypes.variable);
      for (const ShapeWord& w : f.shape)
        if (f.is_input() && !w.number()) sizes_.push_back(w.name);
    }
    for (const AliasInfo& a : op_.aliases()) aliases_.push_back(a.name);
  }

  Results run() {
    aspect("names", [this](Faults& f) { names(f), references(f), cases_refer(f); });
    aspect("texts", [this](Faults& f) { texts(f); });
    aspect("rows", [this](Faults& f) { rows(f); });
    aspect("options", [this](Faults& f) { options(f); });
    aspect("coverage", [this](Faults& f) { coverage(f); });
    aspect("cost", [this](Faults& f) { f.expect(op_.has_flops(), "no function counts its operations"); });
    return std::move(results_);
  }

 private:
  void aspect(const char* name, const std::function<void(Faults&)>& check) {
    Faults faults;
    try {
      check(faults);
    } catch (const std::exception& e) {
      faults.expect(false, e.what());
    }
    results_.push_back({std::string(op_.name), "", "", "", name, faults.text().empty(), faults.text(), 0});
  }

  void names(Faults& f) const {
    f.expect(usable(op_.name), quoted(op_.name) + " is no name for an operator");
    Names seen;
    for (const FieldInfo& field : fields_) {
      f.once(seen, field.name, "the argument");
      f.expect(usable(field.name), quoted(field.name) + " is no name for an argument");
    }
    for (const FieldInfo& field : fields_) {
      Names choices;
      for (const std::string_view c : field.choices) f.once(choices, c, "the choice");
    }
    seen = {op_.name};
    for (const OpEntry& other : all_names())
      if (other.op != &op_) seen.push_back(other.name());
    for (const AliasInfo& a : op_.aliases()) {
      f.once(seen, a.name, "the name");
      f.expect(usable(a.name), quoted(a.name) + " is no name for an alias");
    }
    seen.clear();
    for (const CaseInfo& c : op_.cases()) f.once(seen, c.name, "the case");
  }

  /// Checks the references of fields to other fields.
  void references(Faults& f) const {
    for (const FieldInfo& field : fields_) {
      const std::string name(field.name);
      if (field.domain == Domain::index || field.domain == Domain::offsets)
        f.known(sizes_, field.below, name + " is below the size");
      if (!field.counter.empty()) {
        f.known(outputs_, field.counter, name + " is counted by the output");
        f.expect(field.kind == FieldKind::out, name + " is counted and is no output");
        for (const FieldInfo& c : fields_)
          f.expect(c.name != field.counter ||
                       (c.dtypes.single() && c.dtypes.has(DType::i64) && c.shape.count == 0),
                   "the counter " + quoted(field.counter) + " is not one i64");
      }
      f.expect(!field.infinite || field.is_output(), name + " may be infinite and is no output");
      if (field.dtypes.real_part) f.known(variables_, field.dtypes.variable, name + " is the real part of");
    }
  }

  void cases_refer(Faults& f) const {
    for (const CaseInfo& c : op_.cases()) {
      const std::string of = "case " + quoted(c.name) + " ";
      Names seen;
      for (const CaseSize& s : c.sizes) {
        f.known(sizes_, s.name, of + "gives the size");
        f.once(seen, s.name, of + "gives a size:");
      }
      seen.clear();
      for (const std::string_view name : words(c.optional)) {
        f.known(optional_, name, of + "gives the optional tensor");
        f.once(seen, name, of + "gives a tensor:");
      }
      if (!c.alias.empty()) f.known(aliases_, c.alias, of + "is of the alias");
      f.expect(
          c.dtype == DType::f64 || std::any_of(fields_.begin(), fields_.end(),
                                               [&](const FieldInfo& t) { return t.dtypes.has(c.dtype); }),
          of + "has a dtype that no tensor has");
      seen.clear();
      for (const CaseDType& d : c.dtypes) {
        f.known(variables_, d.variable, of + "gives a dtype to the variable");
        f.once(seen, d.variable, of + "gives a dtype:");
      }
      seen.clear();
      for (const OutputTolerance& t : c.tolerances) {
        f.known(outputs_, t.output, of + "has a tolerance for the output");
        f.once(seen, t.output, of + "has a tolerance:");
      }
    }
  }

  void texts(Faults& f) const {
    const auto expect = [&](std::string_view text, const std::string& what) {
      f.expect(filled_in(text), what + " is " + quoted(text));
    };
    expect(op_.summary, "the summary"), expect(op_.source, "the source");
    for (const FieldInfo& field : fields_) expect(field.help, "the help of " + std::string(field.name));
    for (const AliasInfo& a : op_.aliases()) expect(a.summary, "the summary of " + std::string(a.name));
    for (const CaseInfo& c : op_.cases()) expect(c.name, "the name of a case");
    for (const std::string_view fault : op_.faults) expect(fault, "a fault");
  }

  void rows(Faults& f) const {
    for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda, DeviceKind::simt}) {
      const std::string on = " on " + to_string(Device{kind, 0});
      const auto all = entry_.variants(kind);
      Names seen;
      for (const Variant& v : all) {
        f.once(seen, v.name, "the row" + on);
        f.expect(all.size() == 1 || !v.name.empty(), "one of several rows" + on + " has no name");
      }
      f.expect(all.empty() || !all[0].naive, "row 0" + on + " is naive");
      if (all.empty() || kind == DeviceKind::cpu) continue;
      for (const AliasInfo& a : op_.aliases())
        f.expect(std::any_of(all.begin(), all.end(),
                             [&](const Variant& v) { return v.name.starts_with(a.cuda_variants); }),
                 std::string(a.name) + " stands for rows '" + std::string(a.cuda_variants) + "...'" + on +
                     ", of which there is none");
    }
  }

  void options(Faults& f) const {
    expect_in_range(op_.default_args({}), "by default", f);
    for (const AliasInfo& a : op_.aliases()) {
      expect_in_range(op_.default_args(a.name), "of " + std::string(a.name), f);
      auto args = op_.default_args({});
      for (const Binding& b : a.binds)
        f.expect(std::any_of(fields_.begin(), fields_.end(),
                             [&](const FieldInfo& o) {
                               return !o.is_tensor() && o.at(args.data()) == b.at(args.data());
                             }),
                 std::string(a.name) + " binds what is no option");
    }
  }

  void expect_in_range(const std::vector<std::byte>& args, const std::string& whose, Faults& f) const {
    for (const FieldInfo& o : fields_)
      if (!o.is_tensor())
        if (const std::string why = o.refusal(o.value(args.data())); !why.empty())
          f.expect(false, std::string(o.name) + " " + whose + " " + why);
  }

  /// Checks what the cases with an oracle cover.
  void coverage(Faults& f) {
    const auto cases = op_.cases();
    Names of_aliases;
    bool any = false, in_place = false;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (cases[i].benchmark_only) continue;
      const Problem problem(op_, cases[i], i, 0);
      any = true;
      of_aliases.push_back(cases[i].alias);
      expect_bound(problem, f);
      expect_tolerance(cases[i], f);
      see(problem);
      for (std::size_t o = 0; o < fields_.size(); ++o)
        for (std::size_t in = 0; in < fields_.size(); ++in) in_place |= in_place_pair(problem, o, in);
    }
    f.expect(any, "no case is small enough to be checked");
    if (!any) return;
    for (const AliasInfo& a : op_.aliases())
      f.expect(among(of_aliases, a.name), "no case is of the alias " + quoted(a.name));
    f.expect(!op_.in_place || in_place, "no case can be done in place");
    for (const FieldInfo& field : fields_) expect_seen(field, f);
  }

  /// Checks that a case of an alias has the options that the alias binds.
  void expect_bound(const Problem& problem, Faults& f) const {
    const CaseInfo& c = problem.info();
    const auto bound = op_.default_args(c.alias);
    for (const AliasInfo& a : op_.aliases())
      for (const FieldInfo& o : fields_)
        if (a.name == c.alias && !o.is_tensor() && a.sets(o, op_.default_args({}).data()))
          f.expect(o.value(problem.args()) == o.value(bound.data()),
                   "case " + quoted(c.name) + " is of the alias " + quoted(a.name) + ", which binds " +
                       std::string(o.name) + " = " + o.text(o.value(bound.data())) + ", and has " +
                       o.text(o.value(problem.args())));
  }

  /// Checks that the tolerances of a case are strict enough to refuse a result that has nothing to do with
  /// the right one.
  static void expect_tolerance(const CaseInfo& c, Faults& f) {
    const auto expect = [&](Tolerance t, const std::string& whose) {
      f.expect(t.absolute >= 0 && std::isfinite(t.absolute) && t.relative >= 0 && t.relative < 1,
               "case " + quoted(c.name) + " has a tolerance" + whose + " that is no bound");
    };
    expect(c.tolerance, "");
    for (const OutputTolerance& t : c.tolerances) expect(t.tolerance, " for " + std::string(t.output));
  }

  void see(const Problem& problem) {
    for (const FieldInfo& field : fields_) {
      if (!field.is_tensor()) {
        seen_[field.name].insert(field.text(field.value(problem.args())));
        continue;
      }
      const Tensor& t = field.tensor(problem.args());
      seen_[field.name].insert(t.given() ? "given" : "left out");
      if (t.given()) dtypes_[field.dtypes.variable].insert(t.dtype);
    }
  }

  void expect_seen(const FieldInfo& field, Faults& f) {
    const std::string no_case = "no case has " + std::string(field.name);
    const auto& seen = seen_[field.name];
    if (field.kind == FieldKind::choice || field.kind == FieldKind::flag) {
      const Names flags{"false", "true"};
      for (const std::string_view value :
           field.kind == FieldKind::flag ? std::span<const std::string_view>(flags) : field.choices)
        f.expect(seen.contains(std::string(value)), no_case + " = " + std::string(value));
    } else if (field.optional && field.is_tensor()) {
      f.expect(seen.contains("given"), no_case);
      f.expect(seen.contains("left out"), "every case has " + std::string(field.name));
    } else if (field.optional) {
      f.expect(seen.contains("none"), no_case + " = none");
      f.expect(seen.size() > std::size_t(seen.contains("none")), no_case + " other than none");
    }
    if (!field.is_tensor() || field.dtypes.single() || field.dtypes.real_part) return;
    auto& dtypes = dtypes_[field.dtypes.variable];
    for (const DType t : all_dtypes)
      f.expect(!field.dtypes.has(t) || !dtypes.insert(t).second,
               no_case + " of dtype " + std::string(to_string(t)));
  }

  const OpEntry& entry_;
  const OpBase& op_;
  std::span<const FieldInfo> fields_;
  Names sizes_, optional_, outputs_, variables_, aliases_;
  std::map<std::string_view, std::set<std::string>> seen_;
  std::map<std::string_view, std::set<DType>> dtypes_;
  Results results_;
};

}  // namespace

Results check_definition(const OpEntry& entry) { return SelfCheck(entry).run(); }

}  // namespace kolmo::check
