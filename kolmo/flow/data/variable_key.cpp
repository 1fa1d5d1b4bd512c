#include "kolmo/flow/data/variable_key.hpp"

#include <bit>
#include <cmath>
#include <string_view>
#include <unordered_map>

namespace kolmo {
namespace {

std::uint64_t key_of_values(std::span<const double> values, std::uint64_t key) {
  constexpr std::uint64_t missing = 1;  // all NaNs count as the same value
  for (const double v : values)
    key = mixed(key ^ (std::isnan(v) ? missing : std::bit_cast<std::uint64_t>(v)));
  return key;
}

}  // namespace

std::vector<std::uint64_t> variable_keys(const Table& table, std::span<const std::size_t> columns) {
  const auto has_name = [&](std::size_t c) {
    return table.named && (table.made_up.empty() || !table.made_up[c]);
  };
  std::unordered_map<std::string_view, int> count;
  for (std::size_t c = 0; c < table.names.size(); ++c) count[table.names[c]] += has_name(c);
  std::vector<std::uint64_t> keys;
  for (const std::size_t c : columns) {
    const bool named = has_name(c);
    const std::uint64_t key = named ? mixed(fingerprint(table.names[c])) : 0;
    keys.push_back(named && count[table.names[c]] == 1 ? key : key_of_values(table.columns[c], key));
  }
  return keys;
}

}  // namespace kolmo
