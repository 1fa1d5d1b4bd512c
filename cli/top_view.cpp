#include "cli/top_view.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "cli/table.hpp"
#include "kolmo/base/error.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

const Json& member(const Json& j, const char* key) {
  static const Json none;
  return j.is_object() && j.contains(key) ? j.at(key) : none;
}
/// The number at a path of the snapshot; NaN if there is none.
double at(const Json& j, std::initializer_list<const char*> path) {
  const Json* here = &j;
  for (const char* key : path) here = &member(*here, key);
  return here->is_number() ? here->get<double>() : std::nan("");
}
double sum(const Json& j, const char* key) {
  double all = 0;
  if (const Json& values = member(j, key); values.is_object())
    for (const Json& value : values) all += value.is_number() ? value.get<double>() : 0;
  return all;
}
std::string text(const Json& j, const char* key) {
  const Json& value = member(j, key);
  return value.is_string() ? printable(value.get_ref<const std::string&>(), 80) : "";
}
std::vector<const Json*> subjects(const Json& snapshot, const char* kind) {
  std::vector<const Json*> all;
  if (const Json& list = member(snapshot, kind); list.is_array())
    for (const Json& j : list)
      if (j.is_object()) all.push_back(&j);
  return all;
}

std::string scaled(double value, double step, std::initializer_list<const char*> units) {
  if (!std::isfinite(value)) return "-";
  const auto* unit = units.begin();
  for (; std::abs(value) >= step && unit + 1 != units.end(); ++unit) value /= step;
  return (std::abs(value) >= 100 && std::abs(value) < 1e6 ? std::to_string(std::llround(value))
                                                          : significant(value, 3)) +
         *unit;
}
std::string bytes(double value) {
  return scaled(value, 1024, {" B", " KiB", " MiB", " GiB", " TiB", " PiB"});
}
std::string count(double value) { return scaled(value, 1000, {"", " k", " M", " G", " T", " P"}); }
std::string time(double seconds) { return std::isfinite(seconds) ? duration(seconds) : "-"; }
std::string share(double ratio) { return std::isfinite(ratio) ? percent(ratio) : "-"; }
/// A value with its unit; empty if the value is not known.
std::string known(double value, const std::string& unit) {
  return std::isfinite(value) ? "  " + significant(value, 3) + unit : "";
}

/// A table that leaves out columns in a narrow view, those of the highest rank first.
class Columns {
 public:
  struct Column {
    const char* title;
    int rank;
  };
  explicit Columns(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void print(std::vector<std::string>& lines, std::size_t width) const {
    if (rows_.empty()) return;
    int most = 0;
    for (const Column& c : columns_) most = std::max(most, c.rank);
    std::vector<std::string> table;
    do {
      table = with(most);
    } while (most-- > 0 && std::any_of(table.begin(), table.end(), [&](const std::string& line) {
               return clipped(line, width) != line;
             }));
    if (!lines.empty()) lines.emplace_back();
    for (std::string& line : table) lines.push_back(clipped(line, width));
  }

 private:
  std::vector<std::string> with(int rank) const {
    const auto chosen = [&](const auto& cells, auto get) {
      std::vector<std::string> some;
      for (std::size_t c = 0; c < columns_.size(); ++c)
        if (columns_[c].rank <= rank) some.push_back(get(cells[c]));
      return some;
    };
    TextTable table(chosen(columns_, [](const Column& c) { return std::string(c.title); }));
    for (const auto& row : rows_) table.add(chosen(row, [](const std::string& cell) { return cell; }));
    return table.lines();
  }

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

std::vector<double> curve(const Json& snapshot, const std::string& series) {
  std::vector<double> values;
  const Json& all = member(member(member(snapshot, "curves"), "series"), series.c_str());
  if (all.is_array())
    for (const Json& v : all) values.push_back(v.is_number() ? v.get<double>() : std::nan(""));
  return values;
}

std::string device(const std::string& name, const Json& d, double busy, double used, const std::string& bars,
                   const std::string& remarks) {
  std::string line = name + " " + (bars.empty() ? "" : bars + " ");
  const std::string ratio = share(busy);
  line += std::string(ratio.size() < 6 ? 6 - ratio.size() : 0, ' ') + ratio + "  " + bytes(used) + " of " +
          bytes(at(d, {"memory_total_bytes"}));
  line += known(at(d, {"power_watts"}), " W") + known(at(d, {"temperature_celsius"}), " C");
  return line + (remarks.empty() ? "" : "  " + remarks);
}

void add_devices(std::vector<std::string>& lines, const Json& s, std::size_t columns) {
  const std::size_t bars = !s.contains("curves") ? 0 : columns < 110 ? 10 : 20;
  for (const Json* d : subjects(s, "cpu"))
    lines.push_back(
        device("cpu  ", *d, at(*d, {"busy_ratio", "machine"}), at(*d, {"memory_used_bytes", "machine"}),
               sparkline(curve(s, "kolmo_cpu_busy_ratio{scope=\"machine\"}"), bars),
               "process " + share(at(*d, {"busy_ratio", "process"})) + " of " + text(*d, "cores") +
                   " cores, " + bytes(at(*d, {"memory_used_bytes", "process"}))));
  for (const Json* d : subjects(s, "gpu")) {
    std::string remarks;
    if (const Json& reasons = member(*d, "throttled"); reasons.is_object())
      for (const auto& [reason, on] : reasons.items())
        if (on == 1) remarks += paint(Color::yellow, "held down by " + printable(reason)) + "  ";
    if (const double active = at(*d, {"sm_active_ratio"}); std::isfinite(active))
      remarks += "SM " + share(active) + ", memory bus " + share(at(*d, {"dram_active_ratio"})) + "  ";
    if (const double hertz = at(*d, {"sm_clock_hertz"}); std::isfinite(hertz))
      remarks += significant(hertz / 1e9, 3) + " GHz  ";
    const std::string gpu = text(*d, "gpu"), uuid = text(*d, "uuid");
    lines.push_back(
        device("gpu " + gpu, *d, at(*d, {"busy_ratio"}), at(*d, {"memory_used_bytes"}),
               sparkline(curve(s, "kolmo_gpu_busy_ratio{gpu=\"" + gpu + "\",uuid=\"" + uuid + "\"}"), bars),
               remarks + text(*d, "model")));
  }
}

void add_kernels(std::vector<std::string>& lines, const Json& s, const TopView& view) {
  using Sort = TopView::Sort;
  std::vector<const Json*> kernels = subjects(s, "kernel");
  std::erase_if(kernels, [](const Json* k) { return at(*k, {"launches_total"}) == 0; });
  const auto value = [&](const Json* k) {
    const double v = view.sort == Sort::share  ? at(*k, {"busy_seconds_per_second"})
                     : view.sort == Sort::rate ? at(*k, {"launches_per_second"})
                     : view.sort == Sort::mean ? at(*k, {"duration_seconds", "1m", "mean"})
                                               : at(*k, {"duration_seconds", "1m", "p99"});
    return std::isnan(v) ? -1 : v;
  };
  std::stable_sort(kernels.begin(), kernels.end(), [&](const Json* a, const Json* b) {
    return view.sort == Sort::name ? text(*a, "kernel") < text(*b, "kernel") : value(a) > value(b);
  });
  if (view.reversed) std::reverse(kernels.begin(), kernels.end());
  Columns table({{"operator", 0},
                 {"on", 4},
                 {">share", 0},
                 {">launches", 5},
                 {">per second", 2},
                 {">mean", 1},
                 {">p50", 3},
                 {">p99", 1},
                 {">of roofline", 6}});
  for (const Json* k : kernels)
    table.add({text(*k, "kernel"), text(*k, "device"), share(at(*k, {"busy_seconds_per_second"})),
               count(at(*k, {"launches_total"})), count(at(*k, {"launches_per_second"})),
               time(at(*k, {"duration_seconds", "1m", "mean"})),
               time(at(*k, {"duration_seconds", "1m", "p50"})),
               time(at(*k, {"duration_seconds", "1m", "p99"})), share(at(*k, {"roofline_ratio"}))});
  table.print(lines, view.columns);
}

void add_pools(std::vector<std::string>& lines, const Json& s, std::size_t width) {
  Columns table({{"pool", 0},
                 {">in use", 0},
                 {">reserved", 1},
                 {">limit", 4},
                 {">peak", 2},
                 {">fragmentation", 5},
                 {">live", 3}});
  for (const Json* p : subjects(s, "pool"))
    if (at(*p, {"peak_bytes"}) != 0 || at(*p, {"reserved_bytes"}) != 0)
      table.add({text(*p, "pool"), bytes(at(*p, {"used_bytes"})), bytes(at(*p, {"reserved_bytes"})),
                 bytes(at(*p, {"limit_bytes"})), bytes(at(*p, {"peak_bytes"})),
                 share(at(*p, {"fragmentation_ratio", "external"})), count(at(*p, {"live_allocations"}))});
  table.print(lines, width);
}

void add_pipelines(std::vector<std::string>& lines, const Json& s, std::size_t width) {
  Columns table({{"pipeline", 0},
                 {">items/s", 1},
                 {">p50", 3},
                 {">p99", 0},
                 {">waiting", 2},
                 {">in flight", 4},
                 {">overlap", 5}});
  for (const Json* p : subjects(s, "pipeline"))
    if (sum(*p, "items_total") != 0 || at(*p, {"queue_length"}) > 0 || at(*p, {"inflight"}) > 0)
      table.add({text(*p, "pipeline"), count(sum(*p, "items_per_second")),
                 time(at(*p, {"latency_seconds", "1m", "p50"})),
                 time(at(*p, {"latency_seconds", "1m", "p99"})), count(at(*p, {"queue_length"})),
                 count(at(*p, {"inflight"})), share(at(*p, {"overlap_ratio"}))});
  table.print(lines, width);
}

void add_tuner(std::vector<std::string>& lines, const Json& s, std::size_t width) {
  Columns table({{"tuned", 0}, {">look-ups", 1}, {">hits", 0}, {">speed-up", 2}, {">drift", 3}});
  for (const Json* t : subjects(s, "tuner")) {
    const double lookups = sum(*t, "lookups_total"), speedup = at(*t, {"speedup_ratio", "default"});
    if (text(*t, "kernel").empty() || (lookups == 0 && std::isnan(speedup))) continue;
    const double hits = at(*t, {"lookups_total", "hit"});
    table.add({text(*t, "kernel"), count(lookups),
               lookups > 0 ? share(std::isnan(hits) ? 0 : hits / lookups) : "-", count(speedup),
               count(at(*t, {"drift_ratio"}))});
  }
  table.print(lines, width);
}

std::string clock_time(double seconds) {
  constexpr double year_9999 = 253402300799.0;
  if (!(seconds >= 0 && seconds <= year_9999)) return "-";
  const std::time_t now = std::time_t(seconds);
  std::tm parts{};
  char clock[16] = "";
  if (::localtime_r(&now, &parts)) std::strftime(clock, sizeof clock, "%H:%M:%S", &parts);
  return clock;
}

bool utf8_terminal() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = std::getenv(name); value && *value)
      return std::string(value).find("UTF-8") != std::string::npos ||
             std::string(value).find("utf8") != std::string::npos;
  return false;
}

}  // namespace

std::string clipped(const std::string& line, std::size_t columns) {
  std::size_t shown = 0;
  bool painted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033') {
      i = std::min(line.find('m', i), line.size() - 1);
      painted = true;
    } else if ((static_cast<unsigned char>(line[i]) & 0xC0) != 0x80 && ++shown > columns) {
      return line.substr(0, i) + (painted ? "\033[0m" : "");
    }
  }
  return line;
}

std::string sparkline(const std::vector<double>& ratios, std::size_t width) {
  static constexpr const char* blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr const char* marks[] = {"_", ".", "-", "=", "+", "*", "%", "#"};
  static const auto& levels = utf8_terminal() ? blocks : marks;
  std::string bars;
  for (std::size_t i = ratios.size() - std::min(width, ratios.size()); i < ratios.size(); ++i) {
    const double r = ratios[i];
    bars += std::isnan(r) ? " " : levels[std::size_t(std::clamp(r, 0.0, 1.0) * 7.999)];
  }
  return std::string(width - std::min(width, ratios.size()), ' ') + bars;
}

std::vector<std::string> TopView::head(const Json& s) const {
  if (!s.is_object() || !s.contains("kolmo_version"))
    fail<Error>("what came is no snapshot of a Kolmo process");
  const auto monitor = subjects(s, "monitor");
  const double pid = at(s, {"pid"});
  std::vector<std::string> lines{
      paint(Color::bold, "Kolmo " + text(s, "kolmo_version")) + ", process " +
      (std::isfinite(pid) ? significant(pid, 10) : "-") + ", " + clock_time(at(s, {"time"})) +
      "; monitoring takes " +
      share(monitor.empty() ? std::nan("") : sum(*monitor[0], "overhead_seconds_per_second"))};
  add_devices(lines, s, columns);
  for (std::string& line : lines) line = clipped(line, columns);
  return lines;
}

std::vector<std::string> TopView::body(const Json& s) const {
  std::vector<std::string> lines;
  add_kernels(lines, s, *this);
  add_pools(lines, s, columns);
  add_pipelines(lines, s, columns);
  add_tuner(lines, s, columns);
  return lines;
}

std::string top_text(const Json& snapshot) {
  const TopView view;
  std::string all;
  for (const std::string& line : view.head(snapshot)) all += line + '\n';
  const auto body = view.body(snapshot);
  if (!body.empty()) all += '\n';
  for (const std::string& line : body) all += line + '\n';
  return all;
}

}  // namespace kolmo::cli
