#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/output_dtype.hpp"
#include "cli/table.hpp"
#include "kolmo/io/npy.hpp"
#include "kolmo/op/counted.hpp"
#include "kolmo/op/host_call.hpp"
#include "kolmo/op/registry.hpp"

namespace kolmo::cli {
namespace {

struct RunFlags {
  std::string op, variant, dtype, accuracy;
  std::vector<std::string> in, set, out;
  DeviceOptions device;
};

/// Splits arguments of the form NAME=VALUE; the map goes by name.
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

DType parse_dtype(const std::string& name) {
  for (const DType t : all_dtypes)
    if (to_string(t) == name) return t;
  fail<InvalidArgument>("--dtype: '" + name + "' is no dtype");
}

/// An operator's arguments in host memory, filled from files and text.
class Arguments {
 public:
  explicit Arguments(const OpEntry& entry)
      : entry_(entry), op_(*entry.op), args_(op_.default_args(entry.name())), arrays_(op_.fields().size()) {}

  void* args() { return args_.data(); }

  void read(const std::map<std::string, std::string>& files) {
    for (const auto& [name, file] : files) {
      const std::size_t i =
          find(name, "input", [](const FieldInfo& f) { return f.is_tensor() && f.is_input(); });
      arrays_[i] = read_npy(file);
      op_.fields()[i].tensor(args()) = arrays_[i].tensor;
    }
  }
  void set(const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values) {
      const FieldInfo& f =
          op_.fields()[find(name, "option", [](const FieldInfo& x) { return !x.is_tensor(); })];
      if (entry_.sets(f))
        fail<InvalidArgument>(std::string(entry_.name()) + ": its name says what " + name + " is; use " +
                              std::string(op_.name) + " to choose it");
      try {
        f.set_value(args(), f.parse(value));
      } catch (const InvalidArgument& e) {
        fail<InvalidArgument>(std::string(op_.name) + ": " + e.what());
      }
    }
  }
  /// Allocates every required output, and those in `files`, with its shape. If `dtype` is not empty, outputs
  /// have that dtype.
  void allocate(const std::map<std::string, std::string>& files, const std::string& dtype) {
    for (const auto& [name, file] : files)
      find(name, "output", [](const FieldInfo& f) { return f.is_output(); });
    const std::optional<DType> wanted = dtype.empty() ? std::nullopt : std::optional(parse_dtype(dtype));
    if (wanted) ask_for_dtype(entry_, args(), *wanted);
    infer_outputs(op_, args());
    for (const FieldInfo& f : op_.fields())
      if (f.kind == FieldKind::out && f.optional && !files.contains(std::string(f.name)))
        f.tensor(args()) = Tensor{};
    if (wanted) require_dtype(entry_, args(), *wanted);
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const FieldInfo& f = op_.fields()[i];
      if (f.kind == FieldKind::out && f.tensor(args()).given()) arrays_[i] = allocated(f);
    }
  }
  /// Writes the outputs in `files` and describes all of them.
  TextTable write(const std::map<std::string, std::string>& files) {
    TextTable table({"output", "shape", "file"});
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const FieldInfo& f = op_.fields()[i];
      if (!f.is_output() || !f.tensor(args()).given()) continue;
      std::int64_t lost = 0;
      Tensor values = counted_part(op_, f, args(), lost);
      values.device = {};
      const auto file = files.find(std::string(f.name));
      if (file != files.end()) write_npy(file->second, values);
      const std::string shape = shape_string(values);
      table.add({std::string(f.name), shape.substr(0, shape.find(" on ")),
                 (file == files.end() ? "(not written)" : file->second) +
                     (lost ? "; " + std::to_string(lost) + " more found no room" : "")});
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

  Array allocated(const FieldInfo& output) {
    Tensor& t = output.tensor(args());
    try {
      Array array(t.dtype, t.shape());
      t = array.tensor;
      return array;
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {}  // the size is beyond what a vector can ever hold
    fail<OutOfMemory>(std::string(entry_.name()) + ": " + std::string(output.name) + " is " +
                      shape_string(t) + ", and its " + std::to_string(t.bytes()) + " bytes cannot be had");
  }

  const OpEntry& entry_;
  const OpBase& op_;
  std::vector<std::byte> args_;
  std::vector<Array> arrays_;
};

/// The number of the variant called `name`. For an empty name it is -1, with which run() chooses.
int find_variant(const OpEntry& entry, const std::string& name, DeviceKind kind) {
  if (name.empty()) return -1;
  const std::vector<Variant> rows = entry.variants(kind);
  std::string names;
  for (std::size_t v = 0; v < rows.size(); ++v) {
    if (!entry.stands_for(rows[v], kind)) continue;
    if (rows[v].name == name) return int(v);
    if (!rows[v].name.empty()) names += (names.empty() ? "; there are " : ", ") + std::string(rows[v].name);
  }
  fail<InvalidArgument>(std::string(entry.name()) + ": no variant is called '" + name + "' here" + names);
}

/// Adds --accuracy to the values of --set. Throws InvalidArgument, naming the operators that have this option, for one that has not.
void add_accuracy(const OpEntry& entry, const std::string& accuracy,
                  std::map<std::string, std::string>& values) {
  if (accuracy.empty()) return;
  const auto is_there = [](const OpEntry& e) {
    const auto fields = e.op->fields();
    return std::any_of(fields.begin(), fields.end(),
                       [](const FieldInfo& f) { return !f.is_tensor() && f.name == "accuracy"; });
  };
  std::string names;
  for (const OpEntry& e : all_names())
    if (is_there(e)) names += (names.empty() ? "" : ", ") + std::string(e.name());
  if (!is_there(entry))
    fail<InvalidArgument>("--accuracy: " + std::string(entry.name()) +
                          " has no such option; the operators that have it are " + names);
  require(values.emplace("accuracy", accuracy).second,
          "--accuracy and --set accuracy are the same option; give one of them");
}

void run_op(const RunFlags& o) {
  const OpEntry& entry = find_op(o.op);
  const auto in = by_name(o.in, "--in"), out = by_name(o.out, "--out");
  auto values = by_name(o.set, "--set");
  add_accuracy(entry, o.accuracy, values);
  for (const auto& [name, file] : in) declare_input("--in", file);
  for (const auto& [name, file] : out) declare_output("--out", file);
  Stream stream = o.device.open();
  Arguments arguments(entry);
  arguments.read(in);
  arguments.set(values);
  arguments.allocate(out, o.dtype);
  const int variant = find_variant(entry, o.variant, stream.device().kind);
  const auto begin = std::chrono::steady_clock::now();
  call_on_host(entry, arguments.args(), stream, {.variant = variant});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const TextTable table = arguments.write(out);
  std::cout << "device: " << describe(stream) << "\ntime:   " << duration(seconds.count()) << '\n';
  table.print(std::cout);
}

}  // namespace

void add_run(CLI::App& app, Context&) {
  static RunFlags o;
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
  command
      ->add_option("--accuracy", o.accuracy,
                   "how many times the error bound of products is allowed; the same as --set accuracy=E")
      ->type_name("E");
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
