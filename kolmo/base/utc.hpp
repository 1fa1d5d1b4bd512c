#pragma once
#include <ctime>
#include <string>

namespace kolmo {

/// The current time in the format of records: 2026-01-31T12:00:00Z.
inline std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace kolmo
