#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace kolmo {

/// Reads the whole number in `j`. Throws nlohmann's type_error for anything else, including fractions and
/// numbers beyond the range of T: `get` would convert these, which for numbers beyond the range is undefined
/// behaviour.
template <class T, class Json>
T whole(const Json& j) {
  if (j.is_number_unsigned()) {
    if (const auto n = j.template get<std::uint64_t>(); std::in_range<T>(n)) return T(n);
  } else if (j.is_number_integer()) {
    if (const auto n = j.template get<std::int64_t>(); std::in_range<T>(n)) return T(n);
  }
  throw nlohmann::json::type_error::create(
      302, j.dump() + " stands where a whole number belongs, or is beyond its range", &j);
}

/// Reads an object whose values are whole numbers.
template <class T, class Json>
std::map<std::string, T> whole_numbers(const Json& j) {
  std::map<std::string, T> numbers;
  for (const auto& [name, number] : j.items()) numbers[name] = whole<T>(number);
  return numbers;
}

}  // namespace kolmo
