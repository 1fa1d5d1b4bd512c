#include "cli/analysis_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>

#include "cli/files.hpp"
#include "kolmo/flow/estimate/inspect_series.hpp"
#include "kolmo/io/file.hpp"

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

void AnalysisOptions::add(CLI::App& c, std::int64_t surrogates, SurrogateMethod surrogate_type) {
  constexpr std::int64_t many = 1000000000;
  if (call)
    file = call->table.file;
  else
    add_input(
        c, "FILE", file,
        "CSV, TSV, whitespace columns with % or # comments, or NPY, also packed by gzip; - reads standard "
        "input")
        ->required();
  add_count(c, "--neighbors", estimator.neighbors, 1, 64, "nearest neighbours k");
  with_surrogates_ = surrogates >= 0;
  if (with_surrogates_) {
    estimator.surrogates = surrogates;
    add_choice(c, "--algorithm", estimator.algorithm, ksg_algorithm_names, "estimator of Kraskov et al.");
    add_count(c, "--surrogates", estimator.surrogates, 0, max_surrogates,
              "surrogates for the p-value; 0: none");
    estimator.surrogate_type = surrogate_type;
    add_choice(c, "--surrogate-type", estimator.surrogate_type, surrogate_method_names,
               "how surrogates are made: all but permute keep the autocorrelation; see docs/surrogates.md");
    add_count(
        c, "--min-shift", estimator.min_shift, 0, many,
        "shortest shift of circular surrogates, in rows; 0: from the autocorrelation and the embedding");
    add_count(c, "--block-length", estimator.block_length, 0, many,
              "rows in a block of block surrogates; 0: from the autocorrelation (Politis, White)");
    add_choice(c, "--p-value", p_value, p_value_names,
               "plus-one: (1 + #{surrogate >= observed}) / (1 + S); plain: #{surrogate >= observed} / S");
  }
  add_count(c, "--theiler", estimator.theiler, 0, many,
            "rows of the file that are this near in time are no neighbours");
  add_choice(c, "--transform", preparation.transform, transform_names, "done to every series first");
  add_choice(c, "--standardize", preparation.standardize, standardize_names,
             "mean 0, standard deviation 1 of embedded columns, of raw series, or of nothing");
  c.add_option("--noise", preparation.noise, "standard deviation of the noise added after that")
      ->capture_default_str()
      ->type_name("SD");
  c.add_option("--seed", estimator.seed, "seed of noise and surrogates")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("N");
  add_choice(c, "--units", units, unit_names, "units of values");
  add_choice(c, "--precision", precision, precision_names,
             "f32 is 1e-5 to 4e-3 off and loses noise below 1e-7, and with it the order of equal values");
  c.add_option("--rows", rows, "rows START to END - 1, from 0; either may be left out")
      ->type_name("START:END");
  input.add(c);
  device.add(c);
  c.add_flag("--json", json, "print one JSON object");
  for (CLI::Option* option : c.get_options())
    if (option != c.get_help_ptr() && !option->get_positional()) option->group("Common options");
}

void AnalysisOptions::prepare() {
  require(std::isfinite(preparation.noise) && preparation.noise >= 0,
          "--noise: must be a finite number, 0 or above");
  preparation.seed = estimator.seed;
  estimator.f32 = precision == 1;
}

Stream AnalysisOptions::open() {
  kind_.settle(estimator, device);
  return call ? device.open_within() : device.open();
}

std::future<Stream> AnalysisOptions::opening() {
  kind_.settle(estimator, device);
  if (call) return std::async(std::launch::deferred, [this] { return device.open_within(); });
  return std::async(std::launch::async, [this] { return device.open(); });
}

Table AnalysisOptions::load() {
  prepare();
  Table table = call ? std::move(call->table) : read_table(file, input.table());
  warn_of(table);
  if (!rows.empty()) table = select_rows(std::move(table), rows);
  if (!trials.empty()) set_trials(table);
  return table;
}

void AnalysisOptions::set_trials(Table& table) {
  require(table.trial.empty(), "--trials: the array's first axis already counts trials");
  const auto chosen = select_columns(table, trials);
  require(chosen.size() == 1, "--trials: takes one column, not '" + printable(trials, 200) + "'");
  trial_column_ = chosen[0];
  const std::vector<double>& column = table.columns[chosen[0]];
  std::map<double, std::size_t> first;
  for (std::size_t t = 0; t < column.size(); ++t) {
    const bool starts = t == 0 || column[t] != column[t - 1];
    if (std::isnan(column[t]) || (starts && !first.emplace(column[t], t).second))
      fail<InvalidArgument>(
          table.file + ": row " + std::to_string(t) + ", " + column_label(table, chosen[0]) +
          (std::isnan(column[t]) ? ": the trial is missing"
                                 : ": the trial was met before; its rows must follow each other"));
    table.trial.push_back(std::int32_t(first.size()) - 1);
  }
}

void AnalysisOptions::add_trials(CLI::App& c) {
  c.add_option("--trials", trials,
               "column that says which trial a row belongs to; no embedding spans two trials")
      ->type_name("COL")
      ->group("Common options");
  add_choice(c, "--theiler-scope", estimator.theiler_scope, theiler_scope_names,
             "the Theiler window counts rows of a recording (trial), missing ones included, or stays within "
             "the rows "
             "between two missing ones")
      ->group("Common options");
}

void AnalysisOptions::add_strict(CLI::App& c) {
  c.add_flag("--strict", strict_, "a warning about the data or the result is an error");
}

void AnalysisOptions::warn_of(const Table& table) {
  std::vector<Warning> found;
  for (const Remark& r : table.remarks) found.push_back({r.name, r.text});
  warn(found);
}

void AnalysisOptions::warn(const std::vector<Warning>& more) {
  for (const Warning& w : more) {
    if (strict_) fail<InvalidArgument>(file_label(file) + ": " + w.name + ": " + w.text + " (--strict)");
    if (call)
      call->warnings.push_back(w);
    else
      std::fprintf(stderr, "kolmo: warning: %s: %s\n", w.name.c_str(), printable(w.text, 4096).c_str());
    warnings_.push_back(w);
  }
}

void AnalysisOptions::note(const std::string& text) const {
  if (call)
    call->notes.push_back(text);
  else
    std::fprintf(stderr, "kolmo: note: %s\n", text.c_str());
}

Series AnalysisOptions::series(const Table& table, std::span<const std::size_t> columns) {
  Series s = make_series(table, columns, preparation);
  std::string still;
  for (const std::string& name : constant_variables(s))
    still += (still.empty() ? "" : ", ") + printable(name);
  if (!still.empty()) note(table.file + ": constant, and so without information: " + still);
  if (s.missing_rows)
    note(table.file + ": " + std::to_string(s.missing_rows) +
         " rows with missing values split the series into " + std::to_string(s.sets) + " sets");
  if (estimator.f32) note("single precision: values are 1e-5 to 4e-3 off");
  warn(inspect(s, estimator));
  return kind_.symbols(s, estimator);
}

double AnalysisOptions::factor() const { return bits() ? 1 / std::numbers::ln2 : 1; }

nlohmann::ordered_json AnalysisOptions::used() const {
  nlohmann::ordered_json j{{"file", file}};
  if (!rows.empty()) j["rows"] = rows;
  j.update(input.used());
  const bool ksg = estimator.estimator == Estimator::ksg;
  if (kind_.offered()) j["estimator"] = name_of(estimator.estimator, estimator_names);
  if (ksg) j["neighbors"] = estimator.neighbors;
  if (ksg && with_surrogates_) j["algorithm"] = name_of(estimator.algorithm, ksg_algorithm_names);
  if (estimator.estimator == Estimator::ordinal)
    j["order"] = kind_.order, j["order_delay"] = kind_.order_delay;
  if (estimator.estimator == Estimator::discrete || estimator.estimator == Estimator::ordinal)
    j["bias"] = name_of(estimator.bias, bias_names);
  if (with_surrogates_) j["surrogates"] = estimator.surrogates;
  if (with_surrogates_ && !estimator.tested_analytically()) {
    j["surrogate_type"] = name_of(estimator.surrogate_type, surrogate_method_names);
    if (estimator.surrogates && estimator.surrogate_type == SurrogateMethod::block)
      j["block_length"] = estimator.block_length;
    if (estimator.min_shift && estimator.surrogates && estimator.surrogate_type == SurrogateMethod::circular)
      j["min_shift"] = estimator.min_shift;
    j["p_value_convention"] = p_value_formula(p_value);
  }
  if (!trials.empty()) j["trials"] = trials;
  if (ksg) j["theiler"] = estimator.theiler;
  if (ksg && estimator.theiler) j["theiler_scope"] = name_of(estimator.theiler_scope, theiler_scope_names);
  j["transform"] = name_of(preparation.transform, transform_names);
  if (ksg) j["standardize"] = name_of(preparation.standardize, standardize_names);
  if (ksg) j["noise"] = preparation.noise;
  j["seed"] = estimator.seed;
  if (ksg) j["precision"] = name_of(precision, precision_names);
  j["units"] = unit();
  return j;
}

std::vector<std::pair<std::string, std::string>> AnalysisOptions::used_in_commands() const {
  const EstimatorOptions usual;
  const EstimatorOptions& e = estimator;
  std::vector<std::pair<std::string, std::string>> all;
  const auto add = [&](const char* name, const std::string& value, bool differs) {
    if (differs) all.emplace_back(name, value);
  };
  const auto text = [](double value) { return fmt::format("{}", value); };
  const auto choice = [](auto value, std::span<const std::string_view> names) {
    return std::string(name_of(value, names));
  };
  add("--rows", rows, !rows.empty());
  add("--trials", trials, !trials.empty());
  input.add_to_command(all);
  add("--transform", choice(preparation.transform, transform_names),
      preparation.transform != Transform::none);
  add("--standardize", choice(preparation.standardize, standardize_names),
      preparation.standardize != Standardize::columns);
  add("--noise", text(preparation.noise), preparation.noise != Preparation{}.noise);
  add("--seed", std::to_string(e.seed), e.seed != 0);
  add("--neighbors", std::to_string(e.neighbors), e.neighbors != usual.neighbors);
  add("--algorithm", choice(e.algorithm, ksg_algorithm_names), e.algorithm != usual.algorithm);
  add("--theiler", std::to_string(e.theiler), e.theiler != 0);
  add("--theiler-scope", choice(e.theiler_scope, theiler_scope_names),
      e.theiler_scope != usual.theiler_scope);
  add("--precision", "f32", precision == 1);
  add("--units", "bits", bits());
  add("--estimator", choice(e.estimator, estimator_names), e.estimator != usual.estimator);
  add("--order", std::to_string(kind_.order), e.estimator == Estimator::ordinal);
  add("--order-delay", std::to_string(kind_.order_delay), e.estimator == Estimator::ordinal);
  add("--bias", choice(e.bias, bias_names), e.bias != usual.bias);
  if (e.tested_analytically()) return all;
  add("--surrogates", std::to_string(e.surrogates), true);
  add("--surrogate-type", choice(e.surrogate_type, surrogate_method_names),
      e.surrogate_type != usual.surrogate_type);
  add("--block-length", std::to_string(e.block_length),
      e.surrogate_type == SurrogateMethod::block && e.surrogates);
  add("--p-value", "plain", p_value == PValue::plain);
  return all;
}

std::vector<std::int32_t> Variables::add(const std::string& spec) {
  return add(select_columns(table_, spec));
}

std::vector<std::int32_t> Variables::add_all_but(const std::string& spec, const std::string& excluded,
                                                 std::optional<std::size_t> column) {
  std::vector<std::size_t> all = select_columns(table_, spec, excluded);
  if (column) std::erase(all, *column);
  return add(all);
}

std::vector<std::int32_t> Variables::add(std::span<const std::size_t> columns) {
  std::vector<std::int32_t> variables;
  for (const std::size_t column : columns) {
    const auto found = std::find(columns_.begin(), columns_.end(), column);
    variables.push_back(std::int32_t(found - columns_.begin()));
    if (found == columns_.end()) columns_.push_back(column);
  }
  return variables;
}

Coordinates Variables::add_lagged(const std::string& spec, const std::string& option) {
  std::vector<std::string> items(1);
  bool quoted = false;
  for (const char c : spec) {
    quoted ^= c == '"';
    if (c == ',' && !quoted)
      items.emplace_back();
    else
      items.back() += c;
  }
  Coordinates all;
  for (const std::string& item : items) {
    require(!item.empty(), option + ": names no column between two commas");
    const std::size_t colon = item.rfind(':');
    std::int64_t first = 1, last = 1;
    std::string name = item;
    const bool is_name = std::find(table_.names.begin(), table_.names.end(), item) != table_.names.end();
    if (!is_name && colon != std::string::npos && item.find('"', colon) == std::string::npos) {
      name = item.substr(0, colon);
      const std::string lags = item.substr(colon + 1);
      const char *at = lags.data(), *const end = at + lags.size();
      auto read = std::from_chars(at, end, first);
      bool good = read.ec == std::errc();
      last = first;
      if (good && read.ptr != end) {
        good = *read.ptr == '-';
        read = std::from_chars(read.ptr + 1, end, last);
      }
      constexpr std::int64_t far = 1000000000;
      if (!good || read.ec != std::errc() || read.ptr != end || first < 1 || last < first || last > far)
        fail<InvalidArgument>(option + ": '" + printable(item, 200) +
                              "': a lag is a whole number from 1, and a range "
                              "is FIRST-LAST");
    }
    const auto variables = add(name);
    for (const std::int32_t v : variables)
      for (std::int64_t lag = first; lag <= last; ++lag) {
        for (const Coordinate& c : all)
          require(c.variable != v || c.lag != lag,
                  option + ": '" + label(v) + "' has the lag " + std::to_string(lag) + " twice");
        all.push_back({v, lag});
        require(all.size() <= 16, option + ": more than 16 values");
      }
  }
  return all;
}

std::int32_t Variables::add_one(const std::string& spec, const std::string& option) {
  require(!spec.empty(), option + ": names no column");
  const auto variables = add(spec);
  if (variables.size() != 1) fail<InvalidArgument>(option + ": takes one column, not '" + spec + "'");
  return variables[0];
}

std::string Variables::label(std::int32_t variable) const {
  return printable(table_.names[columns_[std::size_t(variable)]], 200);
}

}  // namespace kolmo::cli
