#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kolmo/base/hash.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {

/// A key for each of the columns, which addresses its random numbers. It is the same wherever the column
/// stands, and whatever else is in the table. It is made from the column's name; where the table has no names
/// or made this one up, from the column's values; where several columns have this name, from both.
std::vector<std::uint64_t> variable_keys(const Table& table, std::span<const std::size_t> columns);

/// The random stream of a target and a source with these keys, the same in every command. It is never
/// negative.
constexpr std::int64_t random_stream(std::uint64_t target, std::uint64_t source) {
  return std::int64_t(mixed(mixed(target) + source) >> 1);
}

}  // namespace kolmo
