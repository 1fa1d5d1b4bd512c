#pragma once
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kolmo::cli {

/// A snapshot (kolmo/monitor/snapshot.hpp) as lines of text. Rows in which nothing happened are left out; a
/// narrow view leaves out columns too, the least important ones first; no line is wider than the view. The
/// snapshot may hold anything: what is missing or of another type shows as "-", and text is made printable.
/// Throws Error for JSON that is no snapshot.
class TopView {
 public:
  /// Says by what operators are sorted: numbers from the largest to the smallest, names from a to z.
  enum class Sort : std::uint8_t { share, rate, mean, p99, name };
  static constexpr std::string_view sort_names[] = {"share", "per second", "mean", "p99", "name"};

  std::size_t columns = std::numeric_limits<std::size_t>::max();
  Sort sort = Sort::share;
  bool reversed = false;

  /// Lines that say what the snapshot shows, and the devices; with the curves of the last minutes, if the
  /// snapshot has them.
  std::vector<std::string> head(const nlohmann::ordered_json& snapshot) const;
  /// Lines on operators, pools, pipelines and the tuner.
  std::vector<std::string> body(const nlohmann::ordered_json& snapshot) const;
};

/// The head and the body as text.
std::string top_text(const nlohmann::ordered_json& snapshot);

/// Values as bars, the newest last, at most `width` of them; a value that is not known is left blank.
std::string sparkline(const std::vector<double>& ratios, std::size_t width);

/// The start of a line that takes at most `columns` of a terminal; colour sequences take none.
std::string clipped(const std::string& line, std::size_t columns);

}  // namespace kolmo::cli
