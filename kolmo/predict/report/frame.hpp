#pragma once
#include <map>
#include <string>
#include <string_view>

namespace kolmo::predict {

/// The texts at the top and at the end of a page, as HTML.
struct Frame {
  std::string_view kind;  ///< of report: "training"
  std::string title, headline, tiles, command;
};

/// A self-contained page: the frame that all reports of trainings have, around sections of its own, a template that is filled with
/// `values`.
std::string framed(const Frame& frame, std::string_view sections,
                   const std::map<std::string, std::string, std::less<>>& values);

}  // namespace kolmo::predict
