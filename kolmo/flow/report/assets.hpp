#pragma once

#include <string_view>

// The files of kolmo/flow/report/, compiled in by kolmo_embed (cmake/embed.cmake).
namespace kolmo::assets {
extern const std::string_view report_html;
extern const std::string_view links_html;
extern const std::string_view report_css;
extern const std::string_view data_js;
extern const std::string_view profile_js;
extern const std::string_view matrix_js;
extern const std::string_view report_js;
extern const std::string_view save_js;
}  // namespace kolmo::assets
