#include "cli/analysis.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/files.hpp"
#include "cli/option.hpp"
#include "kolmo/flow/request/settle.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/json.hpp"

namespace kolmo::cli {
namespace {

/// Sets the options in a file: a JSON object of options, or a document of `kolmo network --out` with its `options`.
void read_option_file(const std::string& path, Options options, void* request, const std::string& command) {
  constexpr std::uint64_t most = 64 << 20;
  using Json = nlohmann::ordered_json;
  Json values = parse_json<Json>(read_regular(path, most), path);
  if (values.is_object() && values.contains("options")) values = Json(values["options"]);
  try {
    read_options(options, request, values, command);
  } catch (const InvalidArgument& e) {
    throw CLI::ValidationError("--options", path + ": " + e.what());
  }
}

}  // namespace

void AnalysisFlags::add(CLI::App& c, Options options, void* request) {
  command = &c;
  add_input(c, "FILE", file,
            "CSV, TSV, whitespace columns with % or # comments, or NPY, also packed by gzip; - reads "
            "standard input")
      ->required();
  const auto read = [options, request, name = c.get_name()](const std::string& path) {
    read_option_file(path, options, request, name);
  };
  CLI::Option* const from_file =
      c.add_option_function<std::string>(
           "--options", read,
           "options as JSON, such as the result of a network; those on the command line win")
          ->type_name("FILE.json");
  add_options(c, options, request);
  const auto others = c.get_options();
  input.add(c), monitoring.add(c);
  c.add_flag("--json", json, "print one JSON object");
  for (CLI::Option* option : c.get_options())
    if (option == from_file ||
        (std::find(others.begin(), others.end(), option) == others.end() && option != c.get_help_ptr()))
      option->group("Common options");
}

void AnalysisFlags::check_given(Options options, const EstimatorOptions& settled) const {
  for (const OptionInfo& o : options)
    if (command->get_option(o.flag())->count()) check_use(o, settled);
}

Session AnalysisFlags::load() const {
  CommandOptions reading;
  const nlohmann::ordered_json used = input.used();
  for (const auto& [name, value] : used.items())
    reading.emplace_back(name, value.is_string() ? value.get<std::string>() : "");
  Session session(read_table(file, input.table()), std::move(reading));
  session.on_warning = print_warning, session.on_note = print_note;
  session.terminal = true;
  return session;
}

Streams AnalysisFlags::open(const AnalysisRequest& request) const {
  return DeviceOptions{request.device, int(request.threads), monitoring}.open_all();
}

void print_warning(const Warning& w) {
  std::fprintf(stderr, "kolmo: warning: %s: %s\n", w.name.c_str(), printable(w.text, 4096).c_str());
}

void print_note(const std::string& text) { std::fprintf(stderr, "kolmo: note: %s\n", text.c_str()); }

}  // namespace kolmo::cli
