#include "kolmo/flow/result/markup.hpp"
#include "kolmo/predict/analysis/fans.hpp"
#include "kolmo/predict/analysis/forecast.hpp"

namespace kolmo::predict {

std::string forecast_svg(const TrainingLog& log, const ForecastResult& r) {
  constexpr const char* style =
      "<style>svg{font-family:sans-serif;font-size:13px} .grid{stroke:#ddd;fill:none} polyline{fill:none} "
      ".seen{stroke:#333;stroke-width:1} .fan polyline{stroke:#1f77b4;stroke-width:2} "
      ".outer,.inner{fill:#1f77b4;fill-opacity:.2} .target{stroke:#d62728;stroke-dasharray:6 4;fill:none}"
      "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  return fans(log, {&r},
              style + ("<title>" +
                       markup::escape(r.file + ", plan " + r.plan + ", forecast by " + r.forecast.driver) +
                       "</title>\n"));
}

}  // namespace kolmo::predict
