#include <algorithm>
#include <cctype>

#include "kolmo/flow/analysis/network_analysis.hpp"
#include "kolmo/flow/infer/pairwise_search.hpp"
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

namespace {

/// Makes the options that the commands of pairwise and of chosen links share.
TransferEntropyRequest request_of(const NetworkRequest& network, const Series& series,
                                  const NetworkOptions& options, const LinkResult& link) {
  const auto column = [&](std::int32_t v) { return series.numbers[std::size_t(v)]; };
  TransferEntropyRequest r;
  static_cast<AnalysisRequest&>(r) = network;
  r.p_value = network.p_value;
  r.source_column.add(column(link.source)), r.target_column.add(column(link.target));
  for (const Coordinate& g : condition_of_link(options, link.source, link.target))
    r.given.add(column(g.variable)).lags(g.lag, g.lag);
  r.estimator.min_shift = link.min_shift;
  if (options.rule().sequential()) r.estimator.surrogates = link.surrogate_count;
  return r;
}

std::string command_of(const TransferEntropyRequest& r, const Session& session) {
  static constexpr auto fields = TransferEntropyRequest::fields();
  static const TransferEntropyRequest usual;
  std::string text = "kolmo te " + shell_word(session.table.file);
  CommandOptions words = command_options(fields, &r, &usual);
  for (const auto& [name, value] : session.reading) words.emplace_back("--" + name, value);
  for (const auto& [name, value] : words) text += " " + name + (value.empty() ? "" : " " + shell_word(value));
  return text;
}

std::string joined(const std::vector<std::int64_t>& lags) {
  std::string text;
  for (const std::int64_t lag : lags) text += (text.empty() ? "" : ",") + std::to_string(lag);
  return text;
}

}  // namespace

std::string te_command(const NetworkRequest& network, const Session& session, const Series& series,
                       const NetworkOptions& options, const LinkResult& link, const Embedding& target) {
  TransferEntropyRequest r = request_of(network, series, options, link);
  r.source = network.source, r.history = target.history, r.tau = target.tau;
  r.max_lag = network.max_lag;
  return command_of(r, session);
}

std::string chosen_te_command(const NetworkRequest& network, const Session& session, const Series& series,
                              const NetworkOptions& options, const LinkResult& link,
                              const TargetSelection& found) {
  if (link.lags.empty()) return "";
  TransferEntropyRequest r = request_of(network, series, options, link);
  if (series.missing_rows)  // all candidates of a target share its rows
    for (const std::int32_t v : options.variables) r.complete.add(series.numbers[std::size_t(v)]);
  r.estimator.surrogates = *network.greedy.permutations_max_seq;
  r.reach = greedy_reach(options), r.source_lags = joined(link.lags);
  std::vector<std::int64_t> own;
  for (const Chosen& c : found.own_past) own.push_back(c.value.lag);
  r.target_lags = own.empty() ? "0" : joined(own);
  for (const SourceSelection& s : found.sources) {
    if (std::find(s.offered.begin(), s.offered.end(), link.source) == s.offered.end()) continue;
    for (const Chosen& c : s.chosen) {
      if (c.value.variable == link.source) continue;
      if (c.value.lag == 0) return "";  // --given has lags from 1 on
      r.given.add(series.numbers[std::size_t(c.value.variable)]).lags(c.value.lag, c.value.lag);
    }
  }
  return command_of(r, session);
}

}  // namespace kolmo
