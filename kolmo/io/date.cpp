#include "kolmo/io/date.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

namespace kolmo {
namespace {

/// Reads a text from its start.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  /// A number of exactly `digits` digits.
  bool number(std::size_t digits, int& value) {
    if (rest_.size() < digits) return false;
    const char* const end = rest_.data() + digits;
    const auto read = std::from_chars(rest_.data(), end, value);
    if (rest_[0] == '-' || read.ec != std::errc() || read.ptr != end) return false;
    rest_.remove_prefix(digits);
    return true;
  }
  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// The digits after a point as microseconds; further digits must be there and are dropped.
  bool fraction(std::int64_t& microseconds) {
    std::int64_t unit = 100000;
    bool any = false;
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9';
         rest_.remove_prefix(1), unit /= 10, any = true)
      microseconds += (rest_[0] - '0') * unit;
    return any;
  }
  bool ended() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

/// The offset from UTC at the end of a text, in minutes.
bool offset(Scanner& s, int& minutes) {
  if (s.ended() || s.take('Z')) return true;
  const bool west = s.take('-');
  if (!west && !s.take('+')) return false;
  int h = 0, m = 0;
  if (!s.number(2, h)) return false;
  if (!s.ended() && !(s.take(':'), s.number(2, m))) return false;
  minutes = (60 * h + m) * (west ? -1 : 1);
  return h < 24 && m < 60;
}

}  // namespace

std::optional<std::int64_t> parse_date(std::string_view text) {
  using namespace std::chrono;
  Scanner s(text);
  int y = 0, m = 0, d = 1, hour = 0, minute = 0, second = 0, east = 0;
  std::int64_t fraction = 0;
  if (!s.number(4, y)) return {};
  const bool slashes = s.take('/');
  if ((!slashes && !s.take('-')) || !s.number(2, m)) return {};
  if (!s.ended()) {
    if (!s.take(slashes ? '/' : '-') || !s.number(2, d)) return {};
    if (!s.ended()) {
      if (!s.take('T') && !s.take(' ')) return {};
      if (!s.number(2, hour) || !s.take(':') || !s.number(2, minute)) return {};
      if (s.take(':') && !s.number(2, second)) return {};
      if (s.take('.') && !s.fraction(fraction)) return {};
      if (!offset(s, east)) return {};
    }
  }
  const year_month_day date{year(y), month(unsigned(m)), day(unsigned(d))};
  if (!s.ended() || !date.ok() || hour > 24 || minute > 59 || second > 60) return {};
  const std::int64_t days = sys_days(date).time_since_epoch().count();
  return days * microseconds_a_day + ((hour * 60 + minute - east) * std::int64_t(60) + second) * 1000000 +
         fraction;
}

CivilDate civil_date(std::int64_t days) {
  using namespace std::chrono;
  const year_month_day date{sys_days{std::chrono::days{days}}};
  return {int(date.year()), int(unsigned(date.month())), int(unsigned(date.day()))};
}

std::string date_text(std::int64_t us) {
  std::int64_t days = us / microseconds_a_day, rest = us % microseconds_a_day;
  if (rest < 0) rest += microseconds_a_day, --days;
  const CivilDate d = civil_date(days);
  std::string text = fmt::format("{:04}-{:02}-{:02}", d.year, d.month, d.day);
  if (!rest) return text;
  const std::int64_t seconds = rest / 1000000, fraction = rest % 1000000;
  text += fmt::format("T{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
  if (seconds % 60 || fraction) text += fmt::format(":{:02}", seconds % 60);
  if (fraction) text += fmt::format(".{:06}", fraction);
  return text;
}

}  // namespace kolmo
