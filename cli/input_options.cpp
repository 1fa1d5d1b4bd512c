#include "cli/input_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/option.hpp"
#include "kolmo/io/cell.hpp"

namespace kolmo::cli {
namespace {

constexpr std::string_view decimal_names[] = {".", ","};

}  // namespace

void InputOptions::add(CLI::App& c) {
  add_choice(c, "--header", header_, header_names,
             "whether the first row of a text holds names; auto: it does if it holds text and no number");
  c.add_option("--na", missing_,
               "texts that mean a missing value besides NA, NaN, null and the like, comma-separated "
               "(semicolons with --decimal ,); a number stands for all ways to write it")
      ->type_name("LIST");
  add_choice(c, "--decimal", decimal_, decimal_names,
             "decimal mark of a text; with a comma, semicolons, tabs or blanks separate columns");
  add_choice(
      c, "--comments", comments_, comments_names,
      "lines of a text that begin with # or %: left out above the first row of numbers and refused below it, "
      "left out anywhere, or none of them: they are rows");
  c.add_flag("--transpose", transpose_, "rows of FILE are series, columns are time");
}

TableOptions InputOptions::table() const {
  const bool comma = decimal_ == 1;
  return {header_, {comma ? ',' : '.', missing_marks(missing_, comma ? ';' : ',')}, transpose_, comments_};
}

nlohmann::ordered_json InputOptions::used() const {
  nlohmann::ordered_json j = nlohmann::ordered_json::object();
  if (header_ != Header::automatic) j["header"] = header_names[std::size_t(header_)];
  if (!missing_.empty()) j["na"] = missing_;
  if (decimal_) j["decimal"] = decimal_names[std::size_t(decimal_)];
  if (comments_ != Comments::above) j["comments"] = comments_names[std::size_t(comments_)];
  if (transpose_) j["transpose"] = true;
  return j;
}

}  // namespace kolmo::cli
