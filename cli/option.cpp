#include "cli/option.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/files.hpp"

namespace kolmo::cli {
namespace {

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const auto n : names) text += (text.empty() ? "" : "|") + std::string(n);
  return text;
}

/// The largest bound that the help shows.
constexpr std::int64_t worth_saying = 1000;

/// What the help says of the option's value.
std::string type_of(const OptionInfo& o) {
  if (!o.form.empty()) return std::string(o.form);
  if (o.kind == FieldKind::choice) return joined(o.choices);
  if (o.kind == FieldKind::real) return "X";
  const bool bounded = o.kind == FieldKind::integer && o.max.integer <= worth_saying;
  return bounded ? "N in [" + o.FieldInfo::text(o.min) + " - " + o.FieldInfo::text(o.max) + "]" : "N";
}

std::string names_of(const OptionInfo& o) {
  if (o.alias.empty()) return o.flag();
  std::string alias(o.alias);
  std::replace(alias.begin(), alias.end(), '_', '-');
  return o.flag() + ",--" + alias;
}

CLI::Option* add_option(CLI::App& command, const OptionInfo& o, void* request) {
  const std::string help = help_of(o), name = names_of(o);
  if (o.path == PathUse::in) return add_input(command, name, o.words(request), help);
  if (o.path == PathUse::out) return add_output(command, name, o.words(request), help);
  if (o.option_kind == OptionKind::value && o.kind == FieldKind::flag)
    return command.add_flag_callback(
        name, [&o, request] { o.set_text(request, "true"); }, help);
  const auto set = [&o, request](const std::string& text) {
    try {
      o.set_text(request, text);
    } catch (const InvalidArgument& e) {
      std::string why = e.what();  // which begins with the option's name, without dashes
      if (why.starts_with(o.name)) why.erase(0, o.name.size() + 1);
      throw CLI::ValidationError(o.flag(), why);
    }
  };
  CLI::Option* const option = command.add_option_function<std::string>(name, set, help);
  if (const std::string usual = o.text(request); !usual.empty() && o.automatic.empty())
    option->default_str(usual);
  return option;
}

}  // namespace

std::string help_of(const OptionInfo& o) {
  return std::string(o.help) + (o.automatic.empty() ? "" : "; if left out: " + std::string(o.automatic));
}

CLI::Option* add_choice(CLI::App& command, const std::string& name, std::int32_t& value,
                        std::span<const std::string_view> names, const std::string& help) {
  const auto set = [name, names, &value](const std::string& text) {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end())
      throw CLI::ValidationError(name, "'" + text + "' is not one of " + joined(names));
    value = std::int32_t(found - names.begin());
  };
  return command.add_option_function<std::string>(name, set, help)
      ->type_name(joined(names))
      ->default_str(std::string(names[std::size_t(value)]));
}

CLI::Option* add_count(CLI::App& command, const std::string& name, std::int64_t& value, std::int64_t low,
                       std::int64_t high, const std::string& help) {
  CLI::Validator range = CLI::Range(low, high);
  if (high > worth_saying) range.description("");
  return command.add_option(name, value, help)->capture_default_str()->check(range)->type_name("N");
}

void add_options(CLI::App& command, Options options, void* request) {
  for (const OptionInfo& o : options) {
    CLI::Option* const option = add_option(command, o, request);
    if (!(o.option_kind == OptionKind::value && o.kind == FieldKind::flag)) option->type_name(type_of(o));
    if (o.required && o.use != OptionUse::one_pair) option->required();
    if (o.common) option->group("Common options");
  }
}

}  // namespace kolmo::cli
