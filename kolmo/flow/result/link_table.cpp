#include "kolmo/flow/result/link_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kolmo/flow/result/storage_table.hpp"
#include "kolmo/io/csv_cell.hpp"

namespace kolmo {
namespace {

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
const char* csv_flag(bool value) { return value ? "true" : "false"; }

PValue convention_of(const NetworkDocument& network) { return network.request.p_value; }

}  // namespace

double bias_corrected(const NetworkLink& link) { return link.value - link.surrogate_mean; }

double strength(const NetworkLink& link) {
  return std::isnan(link.surrogate_mean) ? link.value : bias_corrected(link);
}

double z_score(const NetworkLink& link) {
  return link.surrogate_std > 0 ? bias_corrected(link) / link.surrogate_std : std::nan("");
}

std::int64_t surrogate_count(const NetworkDocument& network, const NetworkLink& link) {
  return link.surrogate_count > 0 ? link.surrogate_count : network.request.estimator.surrogates;
}

std::string surrogates_used(const NetworkDocument& network) {
  if (network.links.empty()) return fmt::format("{}", network.request.estimator.surrogates);
  std::int64_t low = INT64_MAX, high = 0;
  for (const NetworkLink& l : network.links) {
    const std::int64_t count = surrogate_count(network, l);
    low = std::min(low, count), high = std::max(high, count);
  }
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

bool p_at_floor(const NetworkDocument& network, const NetworkLink& link) {
  return p_at_floor(link.p_value, surrogate_count(network, link), convention_of(network));
}

bool p_at_floor(double p, std::int64_t surrogates, PValue convention) {
  if (surrogates == 0 || std::isnan(p)) return false;
  return convention == PValue::plain ? p == 0 : p * double(1 + surrogates) < 1.5;
}

std::string p_text(const NetworkDocument& network, const NetworkLink& link) {
  return p_text(link.p_value, surrogate_count(network, link), convention_of(network));
}

std::string p_text(double p, std::int64_t surrogates, PValue convention) {
  if (std::isnan(p)) return "-";
  if (!p_at_floor(p, surrogates, convention)) return fmt::format("{:.3g}", p);
  return convention == PValue::plain ? fmt::format("< 1/{}", surrogates)
                                     : fmt::format("<= 1/{}", 1 + surrogates);
}

Totals::Totals(const NetworkDocument& network)
    : flow(network.variables.size()), links(network.variables.size()) {
  for (const NetworkLink& link : network.links) {
    if (!link.significant || std::isnan(strength(link))) continue;
    flow[link.source][0] += strength(link), flow[link.target][1] += strength(link);
    ++links[link.source][0], ++links[link.target][1];
  }
}

std::string link_table_csv(const NetworkDocument& document) {
  if (document.only_storage()) return storage_table_csv(document);
  const NetworkDocument network = checked(document);
  std::string out = network.greedy() ? "source,target,lag,lags," : "source,target,lag,";
  if (network.time_step) out += csv_cell("lag_time (" + network.time_step->unit + ")") + ",";
  out +=
      "value,bias_corrected,z,surrogate_mean,surrogate_std,surrogate_q95,p_value,p_at_floor,p_adjusted,"
      "significant,surrogates,units\n";
  const std::string units = csv_cell(network.units);
  auto to = std::back_inserter(out);
  for (const NetworkLink& l : network.links) {
    fmt::format_to(to, "{},{},{},", csv_cell(network.variables[l.source]),
                   csv_cell(network.variables[l.target]), l.lag);
    if (network.greedy()) fmt::format_to(to, "{},", fmt::join(l.lags, " "));
    if (network.time_step) fmt::format_to(to, "{},", csv_number(network.time_step->step * l.lag));
    for (const double v : {l.value, bias_corrected(l), z_score(l), l.surrogate_mean, l.surrogate_std,
                           l.surrogate_q95, l.p_value})
      fmt::format_to(to, "{},", csv_number(v));
    fmt::format_to(to, "{},{},{},{},{}\n", csv_flag(p_at_floor(network, l)), csv_number(l.p_adjusted),
                   csv_flag(l.significant), surrogate_count(network, l), units);
  }
  return out;
}

}  // namespace kolmo
