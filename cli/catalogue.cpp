#include "kolmo/flow/analysis/catalogue.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/describe.hpp"
#include "cli/option.hpp"
#include "cli/table.hpp"
#include "cli/vendor.hpp"
#include "kolmo/knn/cpu_engines.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/op/source_hash.hpp"
#include "kolmo/predict/analysis/forecast.hpp"
#include "kolmo/runtime/cuda/cublaslt.hpp"
#include "kolmo/runtime/validated.hpp"
#include "kolmo/topology/analysis/topology.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string text(std::string_view s) { return std::string(s); }

constexpr std::string_view determinism_names[] = {"none", "run to run", "everywhere"};
constexpr std::string_view domain_names[] = {"real",
                                             "positive",
                                             "unit",
                                             "probability",
                                             "count",
                                             "index",
                                             "sorted",
                                             "ascending",
                                             "offsets",
                                             "mask",
                                             "symmetric positive definite"};
static_assert(std::size(domain_names) == std::size_t(Domain::symmetric_positive_definite) + 1);
constexpr std::string_view kind_names[] = {"in",   "out",  "inout",  "integer", "natural",
                                           "real", "flag", "choice", "list"};

std::string bytes_text(double bytes) { return bytes ? significant(bytes / 1e9, 3) + " GB" : ""; }

std::vector<std::string> devices_of(const OpEntry& e) {
  std::vector<std::string> names;
  if (e.impl(DeviceKind::cpu)) names.emplace_back("cpu");
  if (e.impl(DeviceKind::cuda)) names.emplace_back("cuda");
  if (e.impl(DeviceKind::simt)) names.emplace_back("simt");
  return names;
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string all;
  for (const auto& part : parts) all += (all.empty() ? "" : separator) + part;
  return all;
}

std::vector<std::string> dtype_names(DTypes dtypes) {
  std::vector<std::string> names;
  for (const DType t : all_dtypes)
    if (dtypes.has(t)) names.push_back(text(to_string(t)));
  return names;
}

/// The definition of an alias, such as "layer_norm with activation=gelu".
std::string meaning(const OpEntry& alias) {
  const auto args = alias.op->default_args(alias.name());
  std::vector<std::string> set;
  for (const FieldInfo& f : alias.op->fields())
    if (!f.is_tensor() && alias.sets(f)) set.push_back(text(f.name) + "=" + f.text(f.value(args.data())));
  if (!alias.alias->cuda_variants.empty())
    set.push_back("the variants " + text(alias.alias->cuda_variants) + "* on CUDA");
  return text(alias.op->name) + (set.empty() ? "" : " with " + joined(set, ", "));
}

std::string variant_text(const Variant& v) {
  return text(v.name) + (v.hardware_only ? " (hardware only)" : "") + (v.naive ? " (naive)" : "");
}

/// The CUDA variants that this name includes, or those of the emulated GPU in a build without CUDA.
std::vector<Variant> cuda_variants(const OpEntry& e) {
  const DeviceKind kind = e.impl(DeviceKind::cuda) ? DeviceKind::cuda : DeviceKind::simt;
  std::vector<Variant> rows = e.variants(kind);
  std::erase_if(rows, [&](const Variant& row) { return !e.stands_for(row, kind); });
  return rows;
}

Json value_json(const FieldInfo& f, const Value& v) {
  switch (v.kind) {
    case ValueKind::none:
      return {};
    case ValueKind::flag:
      return v.integer != 0;
    case ValueKind::choice:
      return f.choices[std::size_t(v.integer)];
    case ValueKind::natural:
      return v.natural;
    case ValueKind::real:
      return std::isfinite(v.real) ? Json(v.real) : Json();
    case ValueKind::list:
      return std::vector<std::int64_t>(v.list.begin(), v.list.end());
    default:
      return v.integer;
  }
}

Json field_json(const OpEntry& e, const FieldInfo& f, const void* defaults) {
  Json j{{"name", f.name}, {"kind", kind_names[int(f.kind)]}, {"help", f.help}, {"optional", f.optional}};
  if (f.is_tensor()) {
    const bool own = e.alias && e.alias->domain && f.is_input() && f.domain == Domain::real;
    j["shape"] = f.shape.text, j["dtypes"] = dtype_names(f.dtypes);
    j["domain"] = domain_names[int(own ? *e.alias->domain : f.domain)];
    if (!f.counter.empty()) j["counter"] = f.counter;
    return j;
  }
  j["default"] = value_json(f, f.value(defaults));
  if (f.kind == FieldKind::choice)
    j["choices"] = f.choices;
  else if (f.kind != FieldKind::flag)
    j["min"] = value_json(f, f.min), j["max"] = value_json(f, f.max);
  return j;
}

/// A tolerance as text: "1e-12" if it is both relative and absolute, otherwise "1e-12 relative" or "1e-12
/// absolute".
std::string tolerance_text(const Tolerance& t) {
  if (t.absolute == t.relative) return significant(t.absolute);
  if (t.absolute == 0) return significant(t.relative) + " relative";
  return significant(t.absolute) + " absolute" +
         (t.relative ? ", " + significant(t.relative) + " relative" : "");
}

void list_devices(bool json) {
  if (!json) {
    TextTable table({"device", "name", ">processors", ">memory", "capability", "driver"});
    for (const DeviceInfo& d : devices())
      table.add({to_string(d.device), d.name, std::to_string(d.processors), bytes_text(double(d.memory)),
                 d.capability, d.driver});
    table.print(std::cout);
    if (const std::string vendor = vendor_library_text(); !vendor.empty()) std::cout << vendor << '\n';
    for (const DeviceInfo& d : devices())
      if (d.device.kind == DeviceKind::cuda && !validated_on(d.capability))
        std::cout << to_string(d.device) << " has compute capability " << d.capability
                  << ", on which Kolmo is untested: check it by kolmo validate --device "
                  << to_string(d.device) << '\n';
    return;
  }
  Json all = Json::array();
  for (const DeviceInfo& d : devices()) {
    all.push_back(device_json(d));
    if (d.device.kind == DeviceKind::cuda) all.back()["validated"] = validated_on(d.capability);
    if (const auto* l = cuda::vendor_library(); l && d.device.kind == DeviceKind::cuda)
      all.back()["vendor_library"] = {{"name", l->name}, {"path", l->path}, {"problem", l->problem}};
  }
  std::cout << all.dump(2) << '\n';
}

/// The numbers of variants, such as "26 on CUDA, 2 on CPU".
std::string variant_counts(const OpEntry& e) {
  std::vector<std::string> counts = {std::to_string(cuda_variants(e).size()) + " on CUDA"};
  if (e.impl(DeviceKind::cpu))
    counts.push_back(std::to_string(e.variants(DeviceKind::cpu).size()) + " on CPU");
  return joined(counts, ", ");
}

/// The dtypes of the operator's first tensor whose dtype is the variable T, or else of its first tensor.
std::string dtypes_text(const OpEntry& e) {
  const auto& fields = e.op->fields();
  auto first = std::find_if(fields.begin(), fields.end(), [](const FieldInfo& f) {
    return f.is_tensor() && f.dtypes.variable == "T" && !f.dtypes.real_part;
  });
  if (first == fields.end())
    first = std::find_if(fields.begin(), fields.end(), [](const FieldInfo& f) { return f.is_tensor(); });
  return first == fields.end() ? "" : joined(dtype_names(first->dtypes), " ");
}

void list_ops(const std::string& group, bool json, bool aliases) {
  Json all = Json::array();
  TextTable table(aliases ? std::vector<std::string>{"group", "name", "is", "devices", "dtypes", "variants"}
                          : std::vector<std::string>{"group", "operator", "devices", "summary"});
  for (const OpEntry& e : all_names()) {
    if (!group.empty() && e.group != group) continue;
    all.push_back(op_json(e));
    if (aliases)
      table.add({text(e.group), text(e.name()), e.alias ? meaning(e) : "an operator",
                 joined(devices_of(e), " "), dtypes_text(e), variant_counts(e)});
    else
      table.add({text(e.group), text(e.name()), joined(devices_of(e), " "),
                 e.alias ? "= " + meaning(e) : text(e.op->summary)});
  }
  if (all.empty() && !group.empty()) fail<InvalidArgument>("list: no operator is in group '" + group + "'");
  if (json)
    std::cout << all.dump(2) << '\n';
  else
    table.print(std::cout);
}

void print_variants(const char* device, const std::vector<Variant>& variants) {
  std::vector<std::string> names(variants.size());
  std::transform(variants.begin(), variants.end(), names.begin(), variant_text);
  if (!variants.empty() && !variants[0].name.empty())
    std::cout << "\nvariants on " << device << ": " << joined(names, ", ") << '\n';
}

void print_info(const OpEntry& e) {
  const OpBase& op = *e.op;
  std::cout << paint(Color::bold, text(e.name())) << " (" << e.group << ")\n";
  if (e.alias) std::cout << "  " << e.alias->summary << "\n  = " << meaning(e) << ", where\n";
  std::cout << "  " << op.summary << "\n\n"
            << "source       " << op.source << "\ndevices      " << joined(devices_of(e), ", ")
            << "\ndeterminism  " << determinism_names[int(e.determinism())] << "\nin place     "
            << (op.in_place ? "allowed" : "no") << "\n\n";
  TextTable tensors({"tensor", "", "shape", "dtype", "meaning"});
  TextTable options({"option", "default", "accepted", "meaning"});
  const auto defaults = op.default_args(e.name());
  for (const FieldInfo& f : op.fields()) {
    if (f.is_tensor())
      tensors.add({text(f.name), text(kind_names[int(f.kind)]) + (f.optional ? ", optional" : ""),
                   text(f.shape.text), joined(dtype_names(f.dtypes), " "), text(f.help)});
    else if (!e.sets(f))
      options.add({text(f.name), f.text(f.value(defaults.data())), f.range(), text(f.help)});
  }
  tensors.print(std::cout);
  if (!options.empty()) options.print(std::cout << '\n');
  print_variants("CPU", e.variants(DeviceKind::cpu));
  if (e.op->name.starts_with("ksg_")) std::cout << '\n' << knn::cpu_engines << '\n';
  print_variants("CUDA", cuda_variants(e));
  if (const auto vendor = vendor_library_text(); calls_vendor_library(e) && !vendor.empty())
    std::cout << vendor << '\n';
  for (const OpEntry& other : all_names())
    if (!e.alias && other.op == &op && other.alias)
      std::cout << "\nalias " << other.name() << " = " << meaning(other) << ": " << other.alias->summary
                << '\n';
  TextTable cases({"case", "sizes", "dtype", ">tolerance"});
  for (const CaseInfo& c : op.cases()) {
    if (!e.has(c)) continue;
    std::vector<std::string> sizes;
    for (const CaseSize& s : c.sizes) sizes.push_back(text(s.name) + "=" + std::to_string(s.size));
    cases.add({text(c.name), joined(sizes, " "), text(to_string(c.dtype)),
               c.benchmark_only ? "benchmark only" : tolerance_text(c.tolerance)});
  }
  if (!cases.empty()) cases.print(std::cout << '\n');
}

void list_analyses(bool json) {
  Json all = Json::array();
  TextTable table({"analysis", "in Python", "what it computes"});
  for (const AnalysisInfo& a : all_analyses()) {
    all.push_back(describe(a));
    table.add({std::string(a.name), "kolmo." + std::string(a.function), std::string(a.summary)});
  }
  const auto add = [&]<class Info>(const Json& described, Info) {
    all.push_back(described);
    table.add({std::string(Info::name), "kolmo." + std::string(Info::function), std::string(Info::summary)});
  };
  add(predict::describe_forecast(), predict::ForecastInfo());
  add(topology::describe_topology(), topology::TopologyInfo());
  if (json)
    std::cout << all.dump(2) << '\n';
  else
    table.print(std::cout);
}

void print_analysis(const AnalysisInfo& a, bool json) {
  if (json) {
    std::cout << describe(a).dump(2) << '\n';
    return;
  }
  std::cout << a.name << ": " << a.summary << '\n' << a.about << '\n' << "source: " << a.source << "\n\n";
  const auto usual = a.make();
  TextTable table({"option", "default", "meaning"});
  for (const OptionInfo& o : a.options) table.add({o.flag(), o.text(usual.get()), help_of(o)});
  table.print(std::cout);
}

}  // namespace

Json device_json(const DeviceInfo& d) {
  return {{"device", to_string(d.device)},
          {"name", d.name},
          {"driver", d.driver},
          {"capability", d.capability},
          {"processors", d.processors},
          {"memory", d.memory},
          {"bytes_per_second", d.bytes_per_second},
          {"flops_f64", d.flops_f64},
          {"flops_f32", d.flops_f32},
          {"matrix_flops_f64", d.matrix_flops_f64},
          {"matrix_flops_16", d.matrix_flops_16},
          {"emulated", d.device.kind == DeviceKind::simt}};
}

Json op_json(const OpEntry& e) {
  const OpBase& op = *e.op;
  const auto defaults = op.default_args(e.name());
  Json fields = Json::array(), variants = Json::array(), cpu_variants = Json::array(), cases = Json::array();
  for (const FieldInfo& f : op.fields()) {
    fields.push_back(field_json(e, f, defaults.data()));
    if (!f.is_tensor()) fields.back()["bound"] = e.sets(f);
  }
  for (const Variant& v : cuda_variants(e))
    variants.push_back({{"name", v.name}, {"hardware_only", v.hardware_only}, {"naive", v.naive}});
  for (const Variant& v : e.variants(DeviceKind::cpu))
    cpu_variants.push_back({{"name", v.name}, {"naive", v.naive}});
  for (const CaseInfo& c : op.cases()) {
    if (!e.has(c)) continue;
    Json sizes = Json::object();
    for (const CaseSize& s : c.sizes) sizes[text(s.name)] = s.size;
    cases.push_back({{"name", c.name},
                     {"sizes", sizes},
                     {"dtype", to_string(c.dtype)},
                     {"tolerance", {{"absolute", c.tolerance.absolute}, {"relative", c.tolerance.relative}}},
                     {"benchmark_only", c.benchmark_only}});
  }
  return {{"name", e.name()},
          {"alias_of", e.alias ? Json(op.name) : Json()},
          {"group", e.group},
          {"summary", e.summary()},
          {"source", op.source},
          {"faults", op.faults},
          {"determinism", determinism_names[int(e.determinism())]},
          {"in_place", op.in_place},
          {"devices", devices_of(e)},
          {"cuda_sources", source_hash(op.name, DeviceKind::cuda)},
          {"variants", variants},
          {"cpu_variants", cpu_variants},
          {"fields", fields},
          {"cases", cases}};
}

void add_catalogue(CLI::App& app, Context&) {
  static bool json = false, aliases = false, analyses = false;
  static std::string name;
  auto* devices = app.add_subcommand("devices", "List the devices that can be used here");
  devices->add_flag("--json", json, "print JSON");
  devices->footer("Example:\n  kolmo devices --json");
  devices->callback([] { list_devices(json); });

  auto* list = app.add_subcommand("list", "List the operators and their aliases");
  list->add_option("--group", name, "only this group")->type_name("GROUP");
  list->add_flag("--json", json, "print JSON with fields, cases, variants and the hash of the CUDA sources");
  list->add_flag("--aliases", aliases, "print what each name stands for, its dtypes and variants");
  list->add_flag("--analyses", analyses,
                 "the analyses of time series instead: entropy, mi, te, ais, network");
  list->footer("Example:\n  kolmo list --group info");
  list->callback([] {
    if (analyses)
      list_analyses(json);
    else
      list_ops(name, json, aliases);
  });

  auto* info =
      app.add_subcommand("info", "Describe an operator or analysis: formula, arguments, variants, cases");
  info->add_option("op", name, "name of an operator, alias or analysis (see kolmo list)")
      ->required()
      ->type_name("OP");
  info->add_flag("--json", json, "print JSON");
  info->footer("Example:\n  kolmo info ksg_transfer_entropy");
  info->callback([] {
    for (const AnalysisInfo& a : all_analyses())
      if (a.name == name) return print_analysis(a, json);
    const OpEntry& e = find_op(name);
    if (json)
      std::cout << op_json(e).dump(2) << '\n';
    else
      print_info(e);
  });
}

}  // namespace kolmo::cli
