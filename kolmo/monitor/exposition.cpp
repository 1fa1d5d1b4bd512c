#include "kolmo/monitor/exposition.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace kolmo::monitor {
namespace {

std::string number(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

void escape(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\\' || (c == '"' && quotes))
      out += '\\', out += c;
    else
      out += c;
  }
}

std::string braces(const metrics::Labels& labels, std::string_view further = {}) {
  std::string out;
  for (const auto& [key, value] : labels) {
    out += out.empty() ? "{" : ",";
    out += key + "=\"";
    escape(out, value, true);
    out += '"';
  }
  if (!further.empty()) out += (out.empty() ? "{" : ",") + std::string(further);
  return out.empty() ? out : out + "}";
}

void add_histogram(std::string& out, const std::string& name, const metrics::Reading& s) {
  const auto bucket = [&](const std::string& edge, std::uint64_t count) {
    fmt::format_to(std::back_inserter(out), "{}_bucket{} {}\n", name, braces(s.labels, "le=\"" + edge + "\""),
                   count);
  };
  for (std::size_t e = 0; e < metrics::edges.size(); ++e)
    bucket(number(metrics::edges[e]), s.histogram.up_to(e));
  const std::uint64_t count = s.histogram.count();
  bucket("+Inf", count);
  const std::string labels = braces(s.labels);
  fmt::format_to(std::back_inserter(out), "{0}_sum{1} {2}\n{0}_count{1} {3}\n", name, labels,
                 number(s.histogram.sum), count);
}

}  // namespace

std::string series_name(const std::string& name, const metrics::Labels& labels) {
  return name + braces(labels);
}

std::string prometheus_text(const std::vector<metrics::Family>& families) {
  constexpr const char* kinds[] = {"counter", "gauge", "histogram"};
  std::string out;
  for (const metrics::Family& f : families) {
    if (!f.help.empty()) {
      out += "# HELP " + f.name + ' ';
      escape(out, f.help, false);
      out += '\n';
    }
    out += "# TYPE " + f.name + ' ' + kinds[int(f.kind)] + '\n';
    for (const metrics::Reading& s : f.readings) {
      if (f.kind == metrics::Kind::histogram)
        add_histogram(out, f.name, s);
      else
        out += series_name(f.name, s.labels) + ' ' + number(s.value) + '\n';
    }
  }
  return out;
}

}  // namespace kolmo::monitor
