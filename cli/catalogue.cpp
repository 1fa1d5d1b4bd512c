#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/describe.hpp"
#include "cli/table.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/op/source_hash.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string text(std::string_view s) { return std::string(s); }

constexpr std::string_view determinism_names[] = {"none", "run to run", "everywhere"};
constexpr std::string_view domain_names[] = {"real", "positive", "unit", "probability", "count"};
constexpr std::string_view kind_names[] = {"in", "out", "inout", "integer", "real", "flag", "choice"};

std::string bytes_text(double bytes) { return bytes ? significant(bytes / 1e9, 3) + " GB" : ""; }

std::vector<std::string> devices_of(const OpEntry& e) {
  std::vector<std::string> names{"cpu"};
  if (e.cuda) names.emplace_back("cuda");
  if (e.simt) names.emplace_back("simt");
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

/// An option's value as it is written on the command line.
std::string value_text(const FieldInfo& f, double v) {
  if (f.kind == FieldKind::flag) return v != 0 ? "true" : "false";
  if (f.kind == FieldKind::choice) return text(f.choices[std::size_t(v)]);
  return significant(v, 12);
}

/// What an alias is: "layer_norm with activation=gelu".
std::string meaning(const OpEntry& alias) {
  const auto args = alias.op->default_args(alias.alias.name);
  std::vector<std::string> set;
  for (const FieldInfo& f : alias.op->fields())
    if (!f.is_tensor() && alias.sets(f))
      set.push_back(text(f.name) + "=" + value_text(f, f.number(args.data())));
  if (!alias.alias.cuda_variants.empty())
    set.push_back("the variants " + text(alias.alias.cuda_variants) + "* on CUDA");
  return text(alias.op->name) + (set.empty() ? "" : " with " + joined(set, ", "));
}

std::string variant_text(const Variant& v) {
  return text(v.name) + (v.hardware_only ? " (hardware only)" : "") + (v.naive ? " (naive)" : "");
}

/// The variants on a GPU, emulated if that is all this build has, that this name stands for.
std::vector<Variant> cuda_variants(const OpEntry& e) {
  const DeviceKind kind = e.cuda ? DeviceKind::cuda : DeviceKind::simt;
  std::vector<Variant> rows = e.variants(kind);
  std::erase_if(rows, [&](const Variant& row) { return !e.stands_for(row, kind); });
  return rows;
}

std::string range_text(const FieldInfo& f) {
  if (f.kind == FieldKind::flag) return "true, false";
  if (f.kind == FieldKind::choice) {
    std::vector<std::string> names(f.choices.begin(), f.choices.end());
    return joined(names, ", ");
  }
  return significant(f.min, 12) + " to " + significant(f.max, 12);
}

Json field_json(const FieldInfo& f, const void* defaults) {
  Json j{{"name", f.name}, {"kind", kind_names[int(f.kind)]}, {"help", f.help}, {"optional", f.optional}};
  if (f.is_tensor()) {
    j["shape"] = f.shape, j["dtypes"] = dtype_names(f.dtypes), j["domain"] = domain_names[int(f.domain)];
    return j;
  }
  const double v = f.number(defaults);
  if (f.kind == FieldKind::flag)
    j["default"] = v != 0;
  else if (f.kind == FieldKind::choice)
    j["default"] = f.choices[std::size_t(v)], j["choices"] = f.choices;
  else if (f.kind == FieldKind::integer)
    j["default"] = std::int64_t(v);
  else
    j["default"] = v;
  if (f.kind == FieldKind::integer || f.kind == FieldKind::real) {
    j["min"] = std::isfinite(f.min) ? Json(f.min) : Json();
    j["max"] = std::isfinite(f.max) ? Json(f.max) : Json();
  }
  return j;
}

void list_devices(bool json) {
  if (!json) {
    TextTable table({"device", "name", ">processors", ">memory", "capability", "driver"});
    for (const DeviceInfo& d : devices())
      table.add({to_string(d.device), d.name, std::to_string(d.processors), bytes_text(double(d.memory)),
                 d.capability, d.driver});
    return table.print(std::cout);
  }
  Json all = Json::array();
  for (const DeviceInfo& d : devices()) all.push_back(device_json(d));
  std::cout << all.dump(2) << '\n';
}

void list_ops(const std::string& group, bool json) {
  Json all = Json::array();
  TextTable table({"group", "operator", "devices", "summary"});
  for (const OpEntry& e : all_names()) {
    if (!group.empty() && e.group != group) continue;
    all.push_back(op_json(e));
    const bool own = e.alias.name.empty();
    table.add({text(e.group), text(e.name()), joined(devices_of(e), " "),
               own ? text(e.op->summary) : "= " + meaning(e)});
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
  if (!e.alias.name.empty()) std::cout << "  " << e.alias.summary << "\n  = " << meaning(e) << ", where\n";
  std::cout << "  " << op.summary << "\n\n"
            << "source       " << op.source << "\ndevices      " << joined(devices_of(e), ", ")
            << "\ndeterminism  " << determinism_names[int(op.determinism)] << "\nin place     "
            << (op.in_place ? "allowed" : "no") << "\n\n";
  TextTable tensors({"tensor", "", "shape", "dtype", "meaning"});
  TextTable options({"option", "default", "accepted", "meaning"});
  const auto defaults = op.default_args(e.alias.name);
  for (const FieldInfo& f : op.fields()) {
    if (f.is_tensor())
      tensors.add({text(f.name), text(kind_names[int(f.kind)]) + (f.optional ? ", optional" : ""),
                   text(f.shape), joined(dtype_names(f.dtypes), " "), text(f.help)});
    else
      options.add({text(f.name), value_text(f, f.number(defaults.data())), range_text(f), text(f.help)});
  }
  tensors.print(std::cout);
  if (!options.empty()) options.print(std::cout << '\n');
  print_variants("CPU", e.variants(DeviceKind::cpu));
  print_variants("CUDA", cuda_variants(e));
  for (const OpEntry& other : all_names())
    if (e.alias.name.empty() && other.op == &op && !other.alias.name.empty())
      std::cout << "\nalias " << other.name() << " = " << meaning(other) << ": " << other.alias.summary
                << '\n';
  TextTable cases({"case", "sizes", "dtype", ">tolerance"});
  for (const CaseInfo& c : op.cases()) {
    if (!e.has(c)) continue;
    std::vector<std::string> sizes;
    for (const CaseSize& s : c.sizes) sizes.push_back(text(s.name) + "=" + std::to_string(s.size));
    cases.add({text(c.name), joined(sizes, " "), text(to_string(c.dtype)),
               c.benchmark_only ? "benchmark only" : significant(c.tolerance)});
  }
  if (!cases.empty()) cases.print(std::cout << '\n');
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
  const auto defaults = op.default_args(e.alias.name);
  Json fields = Json::array(), variants = Json::array(), cpu_variants = Json::array(), cases = Json::array();
  for (const FieldInfo& f : op.fields()) fields.push_back(field_json(f, defaults.data()));
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
                     {"tolerance", c.tolerance},
                     {"benchmark_only", c.benchmark_only}});
  }
  const bool alias = !e.alias.name.empty();
  return {{"name", e.name()},
          {"alias_of", alias ? Json(op.name) : Json()},
          {"group", e.group},
          {"summary", alias ? e.alias.summary : op.summary},
          {"source", op.source},
          {"determinism", determinism_names[int(op.determinism)]},
          {"in_place", op.in_place},
          {"devices", devices_of(e)},
          {"cuda_sources", source_hash(op.name, DeviceKind::cuda)},
          {"variants", variants},
          {"cpu_variants", cpu_variants},
          {"fields", fields},
          {"cases", cases}};
}

void add_catalogue(CLI::App& app, Context&) {
  static bool json = false;
  static std::string name;
  auto* devices = app.add_subcommand("devices", "List the devices that can be used here");
  devices->add_flag("--json", json, "print JSON");
  devices->footer("Example:\n  kolmo devices --json");
  devices->callback([] { list_devices(json); });

  auto* list = app.add_subcommand("list", "List the operators and their aliases");
  list->add_option("--group", name, "only this group")->type_name("GROUP");
  list->add_flag("--json", json, "print JSON with fields, cases, variants and the hash of the CUDA sources");
  list->footer("Example:\n  kolmo list --group info");
  list->callback([] { list_ops(name, json); });

  auto* info = app.add_subcommand("info", "Describe an operator: formula, arguments, variants, cases");
  info->add_option("op", name, "name of an operator or alias (see kolmo list)")->required()->type_name("OP");
  info->add_flag("--json", json, "print JSON");
  info->footer("Example:\n  kolmo info ksg_transfer_entropy");
  info->callback([] {
    const OpEntry& e = find_op(name);
    if (json)
      std::cout << op_json(e).dump(2) << '\n';
    else
      print_info(e);
  });
}

}  // namespace kolmo::cli
