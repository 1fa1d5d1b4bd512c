#include "cli/analysis_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace kolmo::cli {
namespace {

constexpr std::string_view unit_names[] = {"nats", "bits"};
constexpr std::string_view precision_names[] = {"f64", "f32"};

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const auto n : names) text += (text.empty() ? "" : "|") + std::string(n);
  return text;
}

template <class E>
std::string_view name_of(E value, std::span<const std::string_view> names) {
  return names[std::size_t(value)];
}

}  // namespace

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
      ->default_str(std::string(name_of(value, names)));
}

CLI::Option* add_count(CLI::App& command, const std::string& name, std::int64_t& value, std::int64_t low,
                       std::int64_t high, const std::string& help) {
  CLI::Validator range = CLI::Range(low, high);
  constexpr std::int64_t worth_saying = 1000;
  if (high > worth_saying) range.description("");
  return command.add_option(name, value, help)->capture_default_str()->check(range)->type_name("N");
}

void AnalysisOptions::add(CLI::App& c, std::int64_t surrogates) {
  constexpr std::int64_t many = 1000000000;
  c.add_option("FILE", file,
               "CSV, TSV, whitespace columns with % or # comments, or NPY; - reads standard input")
      ->required();
  add_count(c, "--neighbors", estimator.neighbors, 1, 64, "nearest neighbours k");
  with_surrogates_ = surrogates >= 0;
  if (with_surrogates_) {
    estimator.surrogates = surrogates;
    add_choice(c, "--algorithm", estimator.algorithm, ksg_algorithm_names, "estimator of Kraskov et al.");
    add_count(c, "--surrogates", estimator.surrogates, 0, 1000000, "surrogates for the p-value; 0: none");
    add_choice(c, "--surrogate-type", estimator.surrogate_type, surrogate_type_names,
               "how surrogates are made");
    add_count(c, "--block-length", estimator.block_length, 0, many,
              "rows in a block of block surrogates; 0: the square root of their number");
    add_choice(c, "--p-value", p_value, p_value_names,
               "plus-one: (1 + #{surrogate >= observed}) / (1 + S); plain: #{surrogate >= observed} / S");
  }
  add_count(c, "--theiler", estimator.theiler, 0, many, "rows this near in time are no neighbours");
  add_choice(c, "--transform", preparation.transform, transform_names, "done to every series first");
  add_choice(c, "--standardize", preparation.standardize, standardize_names,
             "mean 0, standard deviation 1 of embedded columns, of raw series, or of nothing");
  c.add_option("--noise", preparation.noise, "standard deviation of the noise added after that")
      ->capture_default_str()
      ->type_name("SD");
  add_count(c, "--seed", estimator.seed, 0, 9000000000000000, "seed of noise and surrogates");
  add_choice(c, "--units", units, unit_names, "units of values");
  add_choice(c, "--precision", precision, precision_names,
             "f32 is 1e-5 to 4e-3 off and loses noise below 1e-7, and with it the order of equal values");
  c.add_option("--rows", rows, "rows START to END - 1, from 0; either may be left out")
      ->type_name("START:END");
  device.add(c);
  c.add_flag("--json", json, "print one JSON object");
  for (CLI::Option* option : c.get_options())
    if (option != c.get_help_ptr() && !option->get_positional()) option->group("Common options");
}

void AnalysisOptions::prepare() {
  require(std::isfinite(preparation.noise) && preparation.noise >= 0,
          "--noise: must be a finite number, 0 or above");
  preparation.seed = std::uint64_t(estimator.seed);
  estimator.f32 = precision == 1;
}

Table AnalysisOptions::load() {
  prepare();
  Table table = read_table(file);
  return rows.empty() ? table : select_rows(std::move(table), rows);
}

Series AnalysisOptions::series(const Table& table, std::span<const std::size_t> columns) const {
  Series s = make_series(table, columns, preparation);
  std::string still;
  for (const std::string& name : constant_variables(s)) still += (still.empty() ? "" : ", ") + name;
  if (!still.empty())
    std::fprintf(stderr, "kolmo: note: %s: constant, and so without information: %s\n", table.file.c_str(),
                 still.c_str());
  if (s.missing_rows)
    std::fprintf(stderr, "kolmo: note: %s: %lld rows with missing values split the series into %d sets\n",
                 table.file.c_str(), static_cast<long long>(s.missing_rows), s.sets);
  if (estimator.f32) std::fprintf(stderr, "kolmo: note: single precision: values are 1e-5 to 4e-3 off\n");
  return s;
}

double AnalysisOptions::factor() const { return bits() ? 1 / std::numbers::ln2 : 1; }

nlohmann::ordered_json AnalysisOptions::used() const {
  nlohmann::ordered_json j{{"file", file}};
  if (!rows.empty()) j["rows"] = rows;
  j["neighbors"] = estimator.neighbors;
  if (with_surrogates_) {
    j["algorithm"] = name_of(estimator.algorithm, ksg_algorithm_names);
    j["surrogates"] = estimator.surrogates;
    j["surrogate_type"] = name_of(estimator.surrogate_type, surrogate_type_names);
    if (estimator.surrogate_type == SurrogateType::block) j["block_length"] = estimator.block_length;
    j["p_value_convention"] = p_value_formula(p_value);
  }
  j["theiler"] = estimator.theiler;
  j["transform"] = name_of(preparation.transform, transform_names);
  j["standardize"] = name_of(preparation.standardize, standardize_names);
  j["noise"] = preparation.noise;
  j["seed"] = estimator.seed;
  j["precision"] = name_of(precision, precision_names);
  j["units"] = unit();
  return j;
}

std::vector<std::int32_t> Variables::add(const std::string& spec) {
  std::vector<std::int32_t> variables;
  for (const std::size_t column : select_columns(table_, spec)) {
    const auto found = std::find(columns_.begin(), columns_.end(), column);
    variables.push_back(std::int32_t(found - columns_.begin()));
    if (found == columns_.end()) columns_.push_back(column);
  }
  return variables;
}

std::int32_t Variables::add_one(const std::string& spec, const std::string& option) {
  require(!spec.empty(), option + ": names no column");
  const auto variables = add(spec);
  if (variables.size() != 1) fail<InvalidArgument>(option + ": takes one column, not '" + spec + "'");
  return variables[0];
}

std::string Variables::label(std::int32_t variable) const {
  return table_.names[columns_[std::size_t(variable)]];
}

}  // namespace kolmo::cli
