#pragma once
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kolmo::cli {

/// A snapshot (kolmo/monitor/snapshot.hpp) as lines of text. Rows in which nothing happened are left out, and
/// in a narrow view columns, the least important ones first; no line is wider than the view. Anything may be
/// in the snapshot: what is missing or of another type shows as "-", and text is printable. Throws Error for
/// JSON that is no snapshot.
class TopView {
 public:
  /// What operators are sorted by; the largest first, names from a.
  enum class Sort : std::uint8_t { share, rate, mean, p99, name };
  static constexpr std::string_view sort_names[] = {"share", "per second", "mean", "p99", "name"};

  std::size_t columns = std::numeric_limits<std::size_t>::max();
  Sort sort = Sort::share;
  bool reversed = false;

  /// What the snapshot is of, and the devices; with the curves of the last minutes, if the snapshot has them.
  std::vector<std::string> head(const nlohmann::ordered_json& snapshot) const;
  /// Operators, pools, pipelines and the tuner.
  std::vector<std::string> body(const nlohmann::ordered_json& snapshot) const;
};

/// All of it, line by line.
std::string top_text(const nlohmann::ordered_json& snapshot);

/// Values as bars, the newest last, at most `width` of them; nothing for a value that is not known.
std::string sparkline(const std::vector<double>& ratios, std::size_t width);

/// The start of a line that fills at most `columns` of a terminal; colours count nothing.
std::string clipped(const std::string& line, std::size_t columns);

}  // namespace kolmo::cli
