#pragma once
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "kolmo/flow/result/markup.hpp"

namespace kolmo::prose {

/// A table that the script makes sortable and offers as a file, which has the name `name`.
class HtmlTable {
 public:
  HtmlTable(const std::string& name, const std::string& caption) {
    out_ = "<div class=\"table\" data-file=\"" + name +
           "\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + markup::escape(caption) +
           "\"><table class=\"sortable\"><caption>" + markup::escape(caption) + "</caption><thead><tr>";
  }
  void head(const std::string& text, bool numeric) {
    out_ += std::string("<th scope=\"col\"") + (numeric ? " class=\"num\">" : ">") + markup::escape(text) +
            "</th>";
  }
  void row(const std::string& attributes = "") {
    out_ += (rows_++ == 0 ? "</tr></thead><tbody>\n<tr" : "</tr>\n<tr") + attributes + ">";
  }
  void text(const std::string& text) { out_ += "<td>" + markup::escape(text) + "</td>"; }
  void count(long long value) { out_ += fmt::format("<td class=\"num\">{}</td>", value); }
  void value(double key, const std::string& shown) {
    out_ += "<td class=\"num\" data-key=\"" + (std::isnan(key) ? "" : markup::exact(key)) + "\">" +
            markup::escape(shown) + "</td>";
  }
  void value(double v) { value(v, markup::number(v)); }
  std::string end() {
    if (rows_ == 0) out_ += "</tr></thead><tbody>\n<tr>";
    return out_ + "</tr>\n</tbody></table></div></div>\n";
  }

 private:
  std::string out_;
  std::size_t rows_ = 0;
};

}  // namespace kolmo::prose
