#pragma once
// A picture of curves and points as SVG, for the examples.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace example {

using Numbers = std::vector<double>;

class Plot {
 public:
  Plot(std::string title, std::string x, std::string y, Numbers x_range, Numbers y_range)
      : title_(std::move(title)),
        x_(std::move(x)),
        y_(std::move(y)),
        across_(std::move(x_range)),
        up_(std::move(y_range)) {}

  void line(const Numbers& x, const Numbers& y, const std::string& name, const std::string& colour,
            bool dashed = false) {
    body_ += "<polyline fill='none' stroke-width='1.5' stroke='" + colour +
             (dashed ? "' stroke-dasharray='5 4" : "") + "' points='" + path(x, y) + "'/>\n";
    legend(name, colour);
  }
  void band(const Numbers& x, const Numbers& low, const Numbers& high, const std::string& name,
            const std::string& colour) {
    const Numbers back_x(x.rbegin(), x.rend()), back(high.rbegin(), high.rend());
    body_ +=
        "<polygon stroke='none' fill='" + colour + "' points='" + path(x, low) + path(back_x, back) + "'/>\n";
    legend(name, colour);
  }
  void points(const Numbers& x, const Numbers& y, const std::string& name, const std::string& colour,
              double radius = 2) {
    for (std::size_t i = 0; i < x.size(); ++i)
      body_ += "<circle r='" + number(radius) + "' fill='" + colour + "' cx='" + number(left(x[i])) +
               "' cy='" + number(top(y[i])) + "'/>\n";
    legend(name, colour);
  }
  /// Writes the picture if a path is given.
  void save(const char* file) const {
    if (!file) return;
    std::FILE* const f = std::fopen(file, "w");
    if (!f) return;
    const std::string text =
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 640 360' font-family='sans-serif' "
        "font-size='13'>\n<rect width='640' height='360' fill='white'/>\n" +
        frame() + body_ + legend_ + "</svg>\n";
    std::fwrite(text.data(), 1, text.size(), f), std::fclose(f);
  }

 private:
  static constexpr double x0 = 60, y0 = 305, width = 560, height = 260;

  static std::string number(double v, const char* format = "%.1f") {
    char text[32];
    std::snprintf(text, sizeof text, format, v);
    return text;
  }
  double left(double x) const { return x0 + width * (x - across_[0]) / (across_[1] - across_[0]); }
  double top(double y) const {
    return y0 - height * (std::clamp(y, up_[0], up_[1]) - up_[0]) / (up_[1] - up_[0]);
  }
  std::string path(const Numbers& x, const Numbers& y) const {
    std::string text;
    for (std::size_t i = 0; i < x.size(); ++i) text += number(left(x[i])) + "," + number(top(y[i])) + " ";
    return text;
  }
  static std::string words(double x, double y, const std::string& text, const std::string& more = "") {
    return "<text x='" + number(x) + "' y='" + number(y) + "' " + more + ">" + text + "</text>\n";
  }
  std::string frame() const {
    std::string text = "<rect x='60' y='45' width='560' height='260' fill='none' stroke='#888'/>\n" +
                       words(340, 26, title_, "text-anchor='middle' font-size='16'") +
                       words(340, 347, x_, "text-anchor='middle'") +
                       words(16, 175, y_, "text-anchor='middle' transform='rotate(-90 16 175)'");
    for (int i = 0; i <= 4; ++i) {
      const double x = across_[0] + (across_[1] - across_[0]) * i / 4, y = up_[0] + (up_[1] - up_[0]) * i / 4;
      text += words(left(x), 323, number(x, "%.3g"), "text-anchor='middle' fill='#555'") +
              words(54, top(y) + 4, number(y, "%.3g"), "text-anchor='end' fill='#555'");
    }
    return text;
  }
  void legend(const std::string& name, const std::string& colour) {
    if (name.empty()) return;
    const double y = 63 + 18 * names_++;
    legend_ += "<rect x='70' width='12' height='4' y='" + number(y - 6) + "' fill='" + colour + "'/>\n" +
               words(88, y, name);
  }

  std::string title_, x_, y_, body_, legend_;
  Numbers across_, up_;
  int names_ = 0;
};

}  // namespace example
