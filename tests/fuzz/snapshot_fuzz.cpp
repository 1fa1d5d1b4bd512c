#include <cstdint>
#include <cstdlib>

#include "cli/top_view.hpp"
#include "kolmo/base/error.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/json.hpp"

namespace {

void check(const std::vector<std::string>& lines, std::size_t columns) {
  for (const std::string& line : lines)
    if (kolmo::printable(line, SIZE_MAX) != line || kolmo::cli::clipped(line, columns) != line) std::abort();
}

}  // namespace

// Any answer must give lines that fit the terminal and cannot command it, or an error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const auto json =
      kolmo::parse_json<nlohmann::ordered_json>({reinterpret_cast<const char*>(data), size}, "f.json");
  for (const std::size_t columns : {std::size_t(7), std::size_t(80), SIZE_MAX})
    for (const auto sort : {kolmo::cli::TopView::Sort::share, kolmo::cli::TopView::Sort::name}) {
      kolmo::cli::TopView view;
      view.columns = columns, view.sort = sort;
      check(view.head(json), columns);
      check(view.body(json), columns);
    }
  return 0;
} catch (const kolmo::Error&) {
  return 0;
}
