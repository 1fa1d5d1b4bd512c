#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>
#include <map>
#include <set>

#include "cli/commands.hpp"
#include "cli/table.hpp"
#include "kolmo/check/oracle.hpp"
#include "kolmo/io/npy.hpp"
#include "kolmo/op/registry.hpp"

namespace kolmo::cli {
namespace {

struct Options {
  std::string op, variant, dtype;
  std::vector<std::string> in, set, out;
  DeviceOptions device;
};

/// Arguments of the form NAME=VALUE, by name.
std::map<std::string, std::string> by_name(const std::vector<std::string>& items, const char* option) {
  std::map<std::string, std::string> all;
  for (const std::string& item : items) {
    const auto equals = item.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == item.size())
      fail<InvalidArgument>(std::string(option) + ": '" + item + "' is not NAME=VALUE");
    if (!all.emplace(item.substr(0, equals), item.substr(equals + 1)).second)
      fail<InvalidArgument>(std::string(option) + ": " + item.substr(0, equals) + " is given twice");
  }
  return all;
}

double parse_number(const std::string& where, const std::string& text, bool integer) {
  double value = 0;
  const char* const end = text.data() + text.size();
  std::from_chars_result parsed{};
  if (integer) {
    std::int64_t whole = 0;
    parsed = std::from_chars(text.data(), end, whole);
    value = double(whole);
  } else {
    parsed = std::from_chars(text.data(), end, value);
  }
  if (parsed.ec != std::errc{} || parsed.ptr != end)
    fail<InvalidArgument>(where + " is '" + text + "', expected " + (integer ? "an integer" : "a number"));
  return value;
}

double parse_value(const std::string& where, const FieldInfo& f, const std::string& text) {
  if (f.kind == FieldKind::choice) {
    const auto at = std::find(f.choices.begin(), f.choices.end(), text);
    if (at != f.choices.end()) return double(at - f.choices.begin());
    std::string names;
    for (const auto name : f.choices) names += (names.empty() ? "" : ", ") + std::string(name);
    fail<InvalidArgument>(where + " is '" + text + "', accepted are " + names);
  }
  if (f.kind != FieldKind::flag) return parse_number(where, text, f.kind == FieldKind::integer);
  if (text == "true" || text == "1") return 1;
  if (text == "false" || text == "0") return 0;
  fail<InvalidArgument>(where + " is '" + text + "', accepted are true and false");
}

/// An operator's arguments in host memory, filled from files and text.
class Arguments {
 public:
  explicit Arguments(const OpEntry& entry)
      : entry_(entry),
        op_(*entry.op),
        args_(op_.default_args(entry.alias.name)),
        arrays_(op_.fields().size()) {}

  void* args() { return args_.data(); }

  void read(const std::map<std::string, std::string>& files) {
    for (const auto& [name, file] : files) {
      const std::size_t i =
          find(name, "input", [](const FieldInfo& f) { return f.is_tensor() && f.is_input(); });
      arrays_[i] = read_npy(file);
      op_.fields()[i].tensor(args()) = arrays_[i].tensor();
    }
  }
  void set(const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values) {
      const FieldInfo& f =
          op_.fields()[find(name, "option", [](const FieldInfo& x) { return !x.is_tensor(); })];
      if (entry_.sets(f))
        fail<InvalidArgument>(std::string(entry_.name()) + ": its name says what " + name + " is; use " +
                              std::string(op_.name) + " to choose it");
      f.set_number(args(), parse_value(std::string(op_.name) + ": " + name, f, value));
    }
  }
  /// The dtype of outputs that no input gives one.
  void set_dtype(const std::string& name) {
    if (name.empty()) return;
    bool used = false;
    for (const FieldInfo& f : op_.fields())
      for (const DType t : all_dtypes)
        if (f.kind == FieldKind::out && f.dtypes.has(t) && to_string(t) == name)
          f.tensor(args()).dtype = t, used = true;
    if (!used) fail<InvalidArgument>(std::string(op_.name) + ": no output can be " + name);
  }
  /// Gives every compulsory output, and those in `files`, its shape and memory.
  void allocate(const std::map<std::string, std::string>& files) {
    for (const auto& [name, file] : files)
      find(name, "output", [](const FieldInfo& f) { return f.is_output(); });
    infer_outputs(op_, args());
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const FieldInfo& f = op_.fields()[i];
      if (f.kind != FieldKind::out) continue;
      Tensor& t = f.tensor(args());
      if (f.optional && !files.contains(std::string(f.name))) {
        t = Tensor{};
        continue;
      }
      arrays_[i] = {
          t.dtype, {t.extent.begin(), t.extent.begin() + t.rank}, std::vector<std::byte>(t.bytes())};
      t = arrays_[i].tensor();
    }
  }
  /// Writes the outputs in `files` and describes all of them.
  TextTable write(const std::map<std::string, std::string>& files) {
    TextTable table({"output", "shape", "file"});
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const FieldInfo& f = op_.fields()[i];
      if (!f.is_output() || !f.tensor(args()).given()) continue;
      const auto file = files.find(std::string(f.name));
      if (file != files.end()) write_npy(file->second, arrays_[i].tensor());
      const std::string shape = shape_string(arrays_[i].tensor());
      table.add({std::string(f.name), shape.substr(0, shape.find(" on ")),
                 file == files.end() ? "(not written)" : file->second});
    }
    return table;
  }

 private:
  std::size_t find(const std::string& name, const char* what, bool (*accepted)(const FieldInfo&)) const {
    std::string names;
    for (std::size_t i = 0; i < op_.fields().size(); ++i) {
      const FieldInfo& f = op_.fields()[i];
      if (!accepted(f)) continue;
      if (f.name == name) return i;
      names += (names.empty() ? "" : ", ") + std::string(f.name);
    }
    fail<InvalidArgument>(std::string(op_.name) + ": no " + what + " is called '" + name + "'" +
                          (names.empty() ? "" : "; there are " + names));
  }

  const OpEntry& entry_;
  const OpBase& op_;
  std::vector<std::byte> args_;
  std::vector<Array> arrays_;
};

/// The row called `name`; by default run()'s choice, or the one among those that an alias allows.
int choose_variant(const OpEntry& entry, const std::string& name, const void* args, DeviceKind kind) {
  const std::vector<Variant> rows = entry.variants(kind);
  if (name.empty() && entry.alias.cuda_variants.empty()) return -1;
  if (name.empty()) return entry.default_variant(args, kind);
  std::string names;
  for (std::size_t v = 0; v < rows.size(); ++v) {
    if (!entry.stands_for(rows[v], kind)) continue;
    if (rows[v].name == name) return int(v);
    names += (names.empty() ? "; there are " : ", ") + std::string(rows[v].name);
  }
  fail<InvalidArgument>(std::string(entry.name()) + ": no variant is called '" + name + "' here" + names);
}

void run_op(const Options& o) {
  const OpEntry& entry = find_op(o.op);
  const auto in = by_name(o.in, "--in"), values = by_name(o.set, "--set"), out = by_name(o.out, "--out");
  std::set<std::string> files;
  for (const auto& [name, file] : out)
    if (!files.insert(file).second) fail<InvalidArgument>("--out: " + file + " is given twice");
  Stream stream = o.device.open();
  Arguments arguments(entry);
  arguments.read(in);
  arguments.set(values);
  arguments.set_dtype(o.dtype);
  arguments.allocate(out);
  const int variant = choose_variant(entry, o.variant, arguments.args(), stream.device().kind);
  const auto begin = std::chrono::steady_clock::now();
  check::call(*entry.op, arguments.args(), stream, {.variant = variant});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const TextTable table = arguments.write(out);
  std::cout << "device: " << describe(stream) << "\ntime:   " << duration(seconds.count()) << '\n';
  table.print(std::cout);
}

}  // namespace

void add_run(CLI::App& app, Context&) {
  static Options o;
  auto* command = app.add_subcommand("run", "Run any operator on NPY files");
  command->add_option("op", o.op, "name of an operator or alias (see kolmo list)")
      ->required()
      ->type_name("OP");
  command->add_option("--in", o.in, "an input tensor from a file; may be repeated")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false);
  command->add_option("--set", o.set, "a number, flag or choice; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("--out", o.out, "where to write an output; may be repeated")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false);
  command->add_option("--dtype", o.dtype, "of the outputs, where no input gives one: f64, f32, f16 or bf16")
      ->type_name("DTYPE");
  command
      ->add_option(
          "--variant", o.variant,
          "a variant of the operator by its name; default: the operator's choice for these arguments")
      ->type_name("NAME");
  o.device.add(*command);
  command->footer(
      "Arguments and their shapes: kolmo info OP.\n"
      "Example:\n  kolmo run digamma --in x=x.npy --out y=y.npy\n"
      "  kolmo run ksg_mutual_information --in x=x.npy --in y=y.npy --set k=3 --out value=mi.npy");
  command->callback([] { run_op(o); });
}

}  // namespace kolmo::cli
