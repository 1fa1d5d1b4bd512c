#include "kolmo/flow/analysis/network_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kolmo/base/utc.hpp"
#include "kolmo/flow/analysis/variables.hpp"
#include "kolmo/flow/request/settle.hpp"
#include "kolmo/flow/result/groups.hpp"
#include "kolmo/flow/result/inspect_network.hpp"
#include "kolmo/flow/result/methods.hpp"
#include "kolmo/flow/result/network_json.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo {
namespace {

/// The variables: those that are named, or all but the excluded, the trials and the conditions.
std::vector<std::int32_t> chosen(const NetworkRequest& r, Session& session, Variables& v) {
  const auto columns = select_columns(session.table, r.columns.text, r.exclude.text, session.rows().columns);
  std::vector<std::int32_t> variables = v.add(columns);
  if (r.columns.empty() && !r.given.empty())
    for (const Coordinate& g : v.add_lagged(r.given, "--given")) std::erase(variables, g.variable);
  return variables;
}

/// Throws InvalidArgument if the results for so many variables do not fit into this machine's memory.
void require_room(std::size_t variables) {
  constexpr double bytes_a_link = 3500;  // measured, with its entries in all results
  const double n = double(variables), memory = double(device_info(Device{}).memory);
  const double needed = bytes_a_link * n * (n - 1);
  if (needed <= memory) return;
  const double fit = std::floor(0.5 + std::sqrt(0.25 + memory / bytes_a_link));
  fail<InvalidArgument>(
      fmt::format("network: {} columns have {:.3g} links, which need {} of memory; this machine has {}, "
                  "enough for {:.0f} columns: name these with --columns",
                  variables, n * (n - 1), bytes_text(needed), bytes_text(memory), fit));
}

}  // namespace

NetworkAnalysis::NetworkAnalysis(const NetworkRequest& request, Session& session)
    : request_(request), session_(session) {
  session.prepare(request);
  NetworkOptions o = network_options(request);
  Variables v(session.table);
  o.variables = chosen(request, session, v);
  require_room(o.variables.size());
  o.given = conditions(request.given, v, o.variables);
  for (const std::int32_t x : o.variables) targets_.push_back(v.columns()[std::size_t(x)]);
  series_ = session.series(v.columns(), request);
  prepared_.emplace(prepare_network(series_, o));
  request_.estimator = options().estimator;
  session.note_neighbors(request_.estimator);
  if (request.groups.empty()) return;
  std::vector<std::string> names;
  for (const std::int32_t x : o.variables) names.push_back(series_.names[std::size_t(x)]);
  groups_ = read_groups(request.groups, names);
}

std::string NetworkAnalysis::key() const { return run_key(series_, options_json(request_)); }

std::vector<std::size_t> NetworkAnalysis::unfinished(const FinishedWork::Records& work) const {
  std::vector<std::size_t> rest;
  for (const std::int32_t target : unfinished_targets(*prepared_, work))
    rest.push_back(std::size_t(series_.numbers[std::size_t(target)]));
  return rest;
}

void NetworkAnalysis::show(std::optional<Progress>& progress, std::size_t targets) const {
  if (!session_.terminal && !session_.progress) return;
  const double share = double(targets) / double(targets_.size());
  progress.emplace(share * network_work(series_, options()), "estimates x rows", session_.progress);
}

Network NetworkAnalysis::infer(const Streams& streams, FinishedWork* work) {
  std::optional<Progress> progress;
  show(progress, targets_.size());
  return infer_network(*prepared_, streams, work, progress ? &*progress : nullptr);
}

void NetworkAnalysis::step(const std::vector<std::size_t>& targets, const Streams& streams,
                           FinishedWork& work) {
  std::vector<std::int32_t> variables;
  for (const std::size_t target : targets) {
    const auto at = std::find(targets_.begin(), targets_.end(), target);
    require(at != targets_.end(),
            "network: the target " + session_.table.names[target] + " is not one of its variables");
    variables.push_back(options().variables[std::size_t(at - targets_.begin())]);
  }
  std::optional<Progress> progress;
  show(progress, targets.size());
  infer_step(*prepared_, variables, streams, work, progress ? &*progress : nullptr);
}

NetworkDocument NetworkAnalysis::document(const Network& network, const std::string& command,
                                          const Streams& streams, const std::string& data_path) {
  NetworkDocument d = network_document(network, series_, options(), request_);
  d.command = command, d.device = streams.text();
  d.file = session_.table.file, d.reading = session_.reading, d.groups = groups_;
  d.time_step = session_.time_step(request_.dt, request_.dt_unit), d.time = session_.rows().time;
  d.date = utc_now().substr(0, 10), d.data = data_checksum(data_path, series_);
  std::map<std::int32_t, Embedding> embedding;
  for (const TargetResult& t : network.targets) embedding[t.target] = t.embedding;
  std::map<std::int32_t, const TargetSelection*> found;
  for (const TargetSelection& t : network.selections) found[t.target] = &t;
  const auto write = [&](std::int64_t begin, std::int64_t end) {
    for (auto i = std::size_t(begin); i < std::size_t(end); ++i) {
      const LinkResult& link = network.links[i];
      d.links[i].command =
          d.greedy() ? chosen_te_command(request_, session_, series_, options(), link, *found.at(link.target))
                     : te_command(request_, session_, series_, options(), link, embedding.at(link.target));
    }
  };
  parallel_ranges(streams.threads(), std::int64_t(network.links.size()), write, 64);
  const std::vector<Warning> of_network = inspect(network, *prepared_);
  d.warnings = session_.warnings;
  d.warnings.insert(d.warnings.end(), of_network.begin(), of_network.end());
  session_.note_losses(streams);
  return d;
}

ReportSeries NetworkAnalysis::shown() const {
  ReportSeries shown;
  for (const std::int32_t v : options().variables) {
    shown.names.push_back(series_.names[std::size_t(v)]);
    shown.values.push_back(series_.values[std::size_t(v)]);
  }
  return shown;
}

}  // namespace kolmo
