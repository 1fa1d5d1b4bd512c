#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kolmo {

/// The microseconds since 1970-01-01T00:00Z of a date as ISO 8601 writes it: YYYY-MM or YYYY-MM-DD (slashes do, too), then
/// optionally a T or a blank and hh:mm[:ss[.fraction]], then optionally Z or an offset +hh:mm. None for any other text.
std::optional<std::int64_t> parse_date(std::string_view text);

/// A date in the shortest of these forms that names it.
std::string date_text(std::int64_t microseconds);

/// Days since 1970-01-01 as year, month (1 to 12) and day of the month.
struct CivilDate {
  std::int64_t year;
  int month, day;
};
CivilDate civil_date(std::int64_t days);
inline constexpr std::int64_t microseconds_a_day = 86400000000;

}  // namespace kolmo
