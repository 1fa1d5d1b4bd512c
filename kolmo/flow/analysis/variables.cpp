#include "kolmo/flow/analysis/variables.hpp"

#include <algorithm>
#include <charconv>

#include "kolmo/io/file.hpp"

namespace kolmo {

std::vector<std::int32_t> Variables::add(const Columns& columns) {
  if (columns.empty()) return {};
  return add(select_columns(table_, columns.text));
}

std::vector<std::int32_t> Variables::add(std::span<const std::size_t> columns) {
  std::vector<std::int32_t> variables;
  for (const std::size_t column : columns) {
    const auto found = std::find(columns_.begin(), columns_.end(), column);
    variables.push_back(std::int32_t(found - columns_.begin()));
    if (found == columns_.end()) columns_.push_back(column);
  }
  return variables;
}

std::int32_t Variables::add_one(const Columns& columns, const std::string& option) {
  require(!columns.empty(), option + ": names no column");
  const auto variables = add(columns);
  if (variables.size() != 1) fail<InvalidArgument>(option + ": takes one column, not '" + columns.text + "'");
  return variables[0];
}

Coordinates Variables::add_lagged(const Columns& lagged, const std::string& option) {
  std::vector<std::string> items(1);
  bool quoted = false;
  for (const char c : lagged.text) {
    quoted ^= c == '"';
    if (c == ',' && !quoted)
      items.emplace_back();
    else
      items.back() += c;
  }
  Coordinates all;
  for (const std::string& item : items) {
    require(!item.empty(), option + ": names no column between two commas");
    const std::size_t colon = item.rfind(':');
    std::int64_t first = 1, last = 1;
    std::string name = item;
    const bool is_name = std::find(table_.names.begin(), table_.names.end(), item) != table_.names.end();
    if (!is_name && colon != std::string::npos && item.find('"', colon) == std::string::npos) {
      name = item.substr(0, colon);
      const std::string lags = item.substr(colon + 1);
      const char *at = lags.data(), *const end = at + lags.size();
      auto read = std::from_chars(at, end, first);
      bool good = read.ec == std::errc();
      last = first;
      if (good && read.ptr != end) {
        good = *read.ptr == '-';
        read = std::from_chars(read.ptr + 1, end, last);
      }
      constexpr std::int64_t far = 1000000000;
      if (!good || read.ec != std::errc() || read.ptr != end || first < 1 || last < first || last > far)
        fail<InvalidArgument>(option + ": '" + printable(item, 200) +
                              "': a lag is a whole number from 1, and a range "
                              "is FIRST-LAST");
    }
    const auto variables = add(Columns{name});
    for (const std::int32_t v : variables)
      for (std::int64_t lag = first; lag <= last; ++lag) {
        for (const Coordinate& c : all)
          require(c.variable != v || c.lag != lag,
                  option + ": '" + label(v) + "' has the lag " + std::to_string(lag) + " twice");
        all.push_back({v, lag});
        require(all.size() <= 16, option + ": more than 16 values");
      }
  }
  return all;
}

std::vector<std::int64_t> lags_of(const std::string& text, const std::string& option) {
  constexpr std::int64_t far = 1000000000;
  std::vector<std::int64_t> lags;
  const char *at = text.data(), *const end = at + text.size();
  const auto number = [&](std::int64_t& to) {
    const auto read = std::from_chars(at, end, to);
    at = read.ptr;
    return read.ec == std::errc() && to >= 0 && to <= far;
  };
  for (bool more = true, good = true; more; ++at) {
    std::int64_t first = 0, last = 0;
    good = number(first), last = first;
    if (good && at != end && *at == '-') ++at, good = number(last);
    more = at != end;
    good = good && last >= first && last - first < 16 && (!more || *at == ',');
    for (std::int64_t lag = first; good && lag <= last; ++lag) {
      good = std::find(lags.begin(), lags.end(), lag) == lags.end() && lags.size() < 16;
      lags.push_back(lag);
    }
    if (!good)
      fail<InvalidArgument>(option + ": '" + printable(text, 200) +
                            "': takes up to 16 lags, each once, such as 1-2,4");
  }
  return lags;
}

std::string Variables::label(std::int32_t variable) const {
  return printable(table_.names[columns_[std::size_t(variable)]], 200);
}

std::string Variables::labels(std::span<const std::int32_t> variables) const {
  std::string text;
  for (const std::int32_t v : variables) text += (text.empty() ? "" : ",") + label(v);
  return text;
}

Coordinates conditions(const Columns& given, Variables& variables, std::span<const std::int32_t> links) {
  if (given.empty()) return {};
  Coordinates all = variables.add_lagged(given, "--given");
  for (const Coordinate& g : all)
    require(std::find(links.begin(), links.end(), g.variable) == links.end(),
            "--given: '" + variables.label(g.variable) + "' is also a source or target");
  return all;
}

}  // namespace kolmo
