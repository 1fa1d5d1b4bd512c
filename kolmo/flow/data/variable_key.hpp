#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kolmo/base/hash.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {

/// A key for each of the columns, which addresses its random numbers: the same wherever the column stands, and whatever
/// else is in the table. It is of the column's name; of its values, where the table has no names or made this one up;
/// of both, where several columns of the table have this name.
std::vector<std::uint64_t> variable_keys(const Table& table, std::span<const std::size_t> columns);

/// The random stream of a target and a source with these keys, the same in every command. Never negative.
constexpr std::int64_t random_stream(std::uint64_t target, std::uint64_t source) {
  return std::int64_t(mixed(mixed(target) + source) >> 1);
}

}  // namespace kolmo
