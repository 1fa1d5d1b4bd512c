#include <algorithm>
#include <cctype>

#include "kolmo/flow/analysis/network_analysis.hpp"
#include "kolmo/flow/request/options_json.hpp"

namespace kolmo {

std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_-./:,+=@%^").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string te_command(const NetworkRequest& network, const Session& session, const Series& series,
                       const NetworkOptions& options, const LinkResult& link, const Embedding& target) {
  const auto column = [&](std::int32_t v) { return series.numbers[std::size_t(v)]; };
  TransferEntropyRequest r;
  static_cast<AnalysisRequest&>(r) = network;
  r.p_value = network.p_value;
  r.source = network.source, r.history = target.history, r.tau = target.tau;
  r.source_column.add(column(link.source)), r.target_column.add(column(link.target));
  r.max_lag = network.max_lag;
  for (const Coordinate& g : options.given) r.given.add(column(g.variable)).lags(g.lag, g.lag);
  if (series.missing_rows)
    for (const std::int32_t v : options.variables) r.complete.add(column(v));
  r.estimator.min_shift = link.min_shift;

  static constexpr auto fields = TransferEntropyRequest::fields();
  static const TransferEntropyRequest usual;
  std::string text = "kolmo te " + shell_word(session.table.file);
  CommandOptions words = command_options(fields, &r, &usual);
  for (const auto& [name, value] : session.reading) words.emplace_back("--" + name, value);
  for (const auto& [name, value] : words) text += " " + name + (value.empty() ? "" : " " + shell_word(value));
  return text;
}

}  // namespace kolmo
