#include "kolmo/predict/report/frame.hpp"

#include "kolmo/flow/report/assets.hpp"
#include "kolmo/flow/result/markup.hpp"
#include "kolmo/version.hpp"

namespace kolmo::assets {
extern const std::string_view frame_html;
}

namespace kolmo::predict {

std::string framed(const Frame& frame, std::string_view sections,
                   const std::map<std::string, std::string, std::less<>>& values) {
  return markup::fill(assets::frame_html, {{"css", std::string(assets::report_css)},
                                           {"version", markup::escape(version())},
                                           {"kind", std::string(frame.kind)},
                                           {"title", frame.title},
                                           {"headline", frame.headline},
                                           {"tiles", frame.tiles},
                                           {"sections", markup::fill(sections, values)},
                                           {"command", frame.command}});
}

}  // namespace kolmo::predict
