#include "kolmo/flow/result/storage_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/io/csv_cell.hpp"

namespace kolmo {

StorageTest storage_test(const NetworkDocument& network, const NetworkTarget& target) {
  const NetworkRequest& r = network.request;
  if (target.searches.empty()) return {std::nan(""), 0, false, "-"};
  const NetworkSearch& search = target.searches[0];
  const bool joined = !target.own_past.empty() || !search.removed.empty();
  const double p = joined ? search.joint_p : search.first_p;
  const std::int64_t surrogates =
      (joined ? r.greedy.permutations_omnibus : r.greedy.permutations_max_stat).value_or(0);
  return {p, surrogates, p_at_floor(p, surrogates, r.p_value), p_text(p, surrogates, r.p_value)};
}

std::string of_own_past(std::string text) {
  constexpr std::string_view source = "source";
  for (auto at = text.find(source); at != std::string::npos; at = text.find(source, at))
    text.replace(at, source.size(), "past");
  return text;
}

std::vector<int> own_lags(const NetworkTarget& target) {
  std::vector<int> lags;
  for (const ChosenValue& c : target.own_past) lags.push_back(c.lag);
  std::sort(lags.begin(), lags.end());
  return lags;
}

std::size_t storing_variables(const NetworkDocument& network) {
  return std::size_t(std::count_if(network.targets.begin(), network.targets.end(),
                                   [](const NetworkTarget& t) { return !t.own_past.empty(); }));
}

std::string storage_table_csv(const NetworkDocument& document) {
  const NetworkDocument network = checked(document);
  std::string out = "variable,lags,value,p_value,p_at_floor,surrogates,samples,units\n";
  const auto number = [](double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; };
  for (const NetworkTarget& t : network.targets) {
    const StorageTest test = storage_test(network, t);
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{}\n",
                   csv_cell(network.variables[t.target]), fmt::join(own_lags(t), " "),
                   number(t.active_information_storage), number(test.p_value), test.at_floor, test.surrogates,
                   t.samples, csv_cell(network.units));
  }
  return out;
}

}  // namespace kolmo
