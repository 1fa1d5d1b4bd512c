#include "cli/link_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "kolmo/io/file.hpp"

namespace kolmo::cli {
namespace {

constexpr std::int64_t far = 1000000000;

/// A path or other text as one word of a shell's command line.
std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_-./:,+=").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace

void LinkOptions::add_link(CLI::App& c, EmbeddingRule rule) {
  network.embedding = rule;
  embedding_ = add_choice(
      c, "--embedding", network.embedding, embedding_rule_names,
      "of the target's past: largest bias-corrected active information storage, smallest prediction "
      "error, or as given by --history and --tau");
  add_count(c, "--max-history", network.max_history, 1, 16, "longest past tried");
  add_count(c, "--max-tau", network.max_tau, 1, far, "largest step tried");
  history_ =
      add_count(c, "--history,--target-history", network.target.history, 1, 16, "past values of the target");
  tau_ = add_count(c, "--tau,--target-tau", network.target.tau, 1, far, "rows between them");
  add_count(c, "--source-history", network.source.history, 1, 16, "past values of the source");
  add_count(c, "--source-tau", network.source.tau, 1, far, "rows between them");
  c.add_option(
       "--given", given,
       "variables conditioned on: COL[:LAG] or COL:FIRST-LAST, comma-separated; a lag is in rows before the "
       "target's next value, 1 if none is given")
      ->type_name("COL[:LAGS],...");
}

void LinkOptions::settle_link() {
  prepare();
  const bool asked = history_->count() || tau_->count();
  if (asked && !embedding_->count()) network.embedding = EmbeddingRule::given;
  require(!asked || network.embedding == EmbeddingRule::given, "--history and --tau need --embedding given");
  network.estimator = estimator, network.p_value = p_value;
}

void LinkOptions::read_given(Variables& v, std::span<const std::int32_t> links) {
  if (given.empty()) return;
  network.given = v.add_lagged(given, "--given");
  for (const Coordinate& g : network.given)
    require(std::find(links.begin(), links.end(), g.variable) == links.end(),
            "--given: '" + v.label(g.variable) + "' is also a source or target");
}

void LinkOptions::describe_link(nlohmann::ordered_json& j) const {
  const NetworkOptions& n = network;
  if (!given.empty()) j["given"] = given;
  j["embedding"] = embedding_rule_names[std::size_t(n.embedding)];
  if (n.embedding == EmbeddingRule::given) {
    j["history"] = n.target.history, j["tau"] = n.target.tau;
  } else {
    j["max_history"] = n.max_history, j["max_tau"] = n.max_tau;
  }
  if (n.estimator.tested_analytically()) {
    j["test"] = "F";
    if (n.lags() > 1) j["lag_correction"] = "Sidak";
  }
  j["source_history"] = n.source.history, j["source_tau"] = n.source.tau;
}

std::string te_command(const LinkOptions& o, const Series& series, const LinkResult& link,
                       const Embedding& target) {
  const NetworkOptions& n = o.network;
  const auto column = [&](std::int32_t v) { return std::to_string(series.numbers[std::size_t(v)]); };
  std::string text = "kolmo te " + shell_word(o.file);
  const auto add = [&](const char* option, const std::string& value) {
    text += std::string(" ") + option + " " + shell_word(value);
  };
  const auto add_unless = [&](const char* option, auto value, auto usual) {
    if (value != usual) add(option, std::to_string(value));
  };
  add("--source", column(link.source)), add("--target", column(link.target));
  add("--history", std::to_string(target.history)), add("--tau", std::to_string(target.tau));
  add_unless("--source-history", n.source.history, 1), add_unless("--source-tau", n.source.tau, 1);
  add("--max-lag", std::to_string(n.max_lag));
  std::string conditions, complete;
  for (const Coordinate& g : n.given)
    conditions += (conditions.empty() ? "" : ",") + column(g.variable) + ":" + std::to_string(g.lag);
  if (!conditions.empty()) add("--given", conditions);
  if (series.missing_rows)
    for (const std::int32_t v : n.variables) complete += (complete.empty() ? "" : ",") + column(v);
  if (!complete.empty()) add("--complete", complete);
  for (const auto& [option, value] : o.used_in_commands()) {
    if (value.empty())
      text += " " + option;
    else
      add(option.c_str(), value);
  }
  add_unless("--min-shift", link.min_shift, 0);
  return text;
}

}  // namespace kolmo::cli
