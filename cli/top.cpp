#include "cli/top.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <ctime>
#include <iostream>
#include <limits>
#include <sstream>
#include <thread>

#include "cli/commands.hpp"
#include "cli/table.hpp"
#include "kolmo/monitor/server.hpp"
#include "kolmo/monitor/watch.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

/// NaN where the snapshot does not know.
double at(const Json& j, std::initializer_list<const char*> path) {
  const Json* here = &j;
  for (const char* key : path) {
    if (!here->is_object() || !here->contains(key)) return std::nan("");
    here = &(*here)[key];
  }
  return here->is_number() ? here->get<double>() : std::nan("");
}
double sum(const Json& j, const char* key) {
  double all = 0;
  if (j.contains(key))
    for (const auto& value : j[key]) all += value.is_number() ? value.get<double>() : 0;
  return all;
}
std::string text(const Json& j, const char* key) { return j.value(key, ""); }

std::string percent(double ratio) { return std::isnan(ratio) ? "-" : significant(100 * ratio, 3) + " %"; }
std::string time(double seconds) { return std::isnan(seconds) ? "-" : duration(seconds); }
std::string count(double value) { return std::isnan(value) ? "-" : significant(value, 4); }
std::string bytes(double value) {
  if (std::isnan(value)) return "-";
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int u = 0;
  for (; value >= 1024 && u < 4; ++u) value /= 1024;
  return significant(value, 3) + " " + units[u];
}

void print_devices(std::ostream& out, const Json& s) {
  TextTable table({"device", "", ">busy", ">memory", ">of", ">clock", ">power", ">temp.", "remarks"});
  const auto add = [&](const std::string& device, const Json& d, double busy, double memory, double of,
                       double clock, std::string remarks) {
    const double watts = at(d, {"power_watts"}), celsius = at(d, {"temperature_celsius"});
    table.add({device, text(d, "model"), percent(busy), bytes(memory), bytes(of),
               std::isnan(clock) ? "-" : significant(clock / 1e9, 3) + " GHz",
               std::isnan(watts) ? "-" : significant(watts, 3) + " W",
               std::isnan(celsius) ? "-" : significant(celsius, 3) + " C", std::move(remarks)});
  };
  for (const Json& d : s["cpu"])
    add("cpu", d, at(d, {"busy_ratio", "machine"}), at(d, {"memory_used_bytes", "machine"}),
        at(d, {"memory_total_bytes"}), at(d, {"clock_hertz"}),
        "this process: " + percent(at(d, {"busy_ratio", "process"})) + " of " + text(d, "cores") +
            " cores, " + bytes(at(d, {"memory_used_bytes", "process"})));
  for (const Json& d : s["gpu"]) {
    std::string remarks;
    if (const double active = at(d, {"sm_active_ratio"}); !std::isnan(active))
      remarks =
          "multiprocessors " + percent(active) + ", memory bus " + percent(at(d, {"dram_active_ratio"}));
    if (d.contains("throttled"))
      for (const auto& [reason, on] : d["throttled"].items())
        if (on == 1)
          remarks += (remarks.empty() ? "" : ", ") + paint(Color::yellow, "held down by " + reason);
    add("gpu " + text(d, "gpu"), d, at(d, {"busy_ratio"}), at(d, {"memory_used_bytes"}),
        at(d, {"memory_total_bytes"}), at(d, {"sm_clock_hertz"}), remarks);
  }
  table.print(out);
}

void print_kernels(std::ostream& out, const Json& s, std::size_t rows) {
  std::vector<const Json*> kernels;
  for (const Json& k : s["kernel"]) kernels.push_back(&k);
  if (kernels.empty()) return;
  const auto share = [](const Json* k) {
    const double busy = at(*k, {"busy_seconds_per_second"});
    return std::isnan(busy) ? -1 : busy;
  };
  std::stable_sort(kernels.begin(), kernels.end(), [&](auto* a, auto* b) { return share(a) > share(b); });
  TextTable table(
      {"operator", "on", ">share", ">launches", ">per second", ">mean", ">p50", ">p99", ">of roofline"});
  for (std::size_t i = 0; i < std::min(rows, kernels.size()); ++i) {
    const Json& k = *kernels[i];
    table.add({text(k, "kernel"), text(k, "device"), percent(at(k, {"busy_seconds_per_second"})),
               count(at(k, {"launches_total"})), count(at(k, {"launches_per_second"})),
               time(at(k, {"duration_seconds", "1m", "mean"})),
               time(at(k, {"duration_seconds", "1m", "p50"})), time(at(k, {"duration_seconds", "1m", "p99"})),
               percent(at(k, {"roofline_ratio"}))});
  }
  out << '\n';
  table.print(out);
  if (kernels.size() > rows) out << "and " << kernels.size() - rows << " more\n";
}

void print_rest(std::ostream& out, const Json& s) {
  TextTable pools({"pool", ">in use", ">reserved", ">limit", ">peak", ">fragmentation", ">live"});
  for (const Json& p : s["pool"])
    pools.add({text(p, "pool"), bytes(at(p, {"used_bytes"})), bytes(at(p, {"reserved_bytes"})),
               bytes(at(p, {"limit_bytes"})), bytes(at(p, {"peak_bytes"})),
               percent(at(p, {"fragmentation_ratio", "external"})), count(at(p, {"live_allocations"}))});
  TextTable pipelines({"pipeline", ">items/s", ">p50", ">p99", ">waiting", ">in flight", ">overlap"});
  for (const Json& p : s["pipeline"])
    pipelines.add({text(p, "pipeline"), count(sum(p, "items_per_second")),
                   time(at(p, {"latency_seconds", "1m", "p50"})),
                   time(at(p, {"latency_seconds", "1m", "p99"})), count(at(p, {"queue_length"})),
                   count(at(p, {"inflight"})), percent(at(p, {"overlap_ratio"}))});
  TextTable tuner({"tuned", ">look-ups", ">hits", ">speed-up", ">drift"});
  for (const Json& t : s["tuner"])
    if (t.contains("kernel"))
      tuner.add({text(t, "kernel"), count(sum(t, "lookups_total")),
                 percent(at(t, {"lookups_total", "hit"}) / sum(t, "lookups_total")),
                 count(at(t, {"speedup_ratio", "default"})), count(at(t, {"drift_ratio"}))});
  for (const TextTable* table : {&pools, &pipelines, &tuner})
    if (!table->empty()) out << '\n', table->print(out);
}

}  // namespace

void print_snapshot(std::ostream& out, const Json& s, std::size_t rows) {
  const std::time_t now = std::time_t(s["time"].get<double>());
  char clock[16] = "";
  std::strftime(clock, sizeof clock, "%H:%M:%S", std::localtime(&now));
  out << paint(Color::bold, "Kolmo " + s["kolmo_version"].get<std::string>()) << ", process " << s["pid"]
      << ", " << clock << "; monitoring takes "
      << percent(s["monitor"].empty() ? std::nan("") : sum(s["monitor"][0], "overhead_seconds_per_second"))
      << "\n\n";
  print_devices(out, s);
  print_kernels(out, s, rows);
  print_rest(out, s);
}

namespace {

struct Options {
  std::string url;
  bool once = false, json = false;
  double interval = 1;
};

std::size_t terminal_rows() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 16 ? size.ws_row : 24;
}

void top(const Options& o) {
  std::unique_ptr<monitor::Watch> own;
  if (o.url.empty()) own = std::make_unique<monitor::Watch>();
  const auto snapshot = [&] {
    return own ? own->snapshot() : Json::parse(monitor::fetch(o.url, "/api/v1/snapshot"));
  };
  const auto wait = [&] { std::this_thread::sleep_for(std::chrono::duration<double>(o.interval)); };
  if (own) wait();  // rates need two readings
  const bool live = isatty(STDOUT_FILENO) && !o.once && !o.json;
  for (;; wait()) {
    const Json s = snapshot();
    std::ostringstream out;
    if (o.json)
      out << s.dump(o.once ? 2 : -1) << '\n';
    else
      print_snapshot(out, s, live ? terminal_rows() - 14 : std::numeric_limits<std::size_t>::max());
    std::cout << (live ? "\033[H\033[2J" : "") << out.str() << std::flush;
    if (o.once || !std::cout) return;
    if (!live && !o.json) std::cout << '\n';
  }
}

}  // namespace

void add_top(CLI::App& app, Context&) {
  static Options o;
  auto* c =
      app.add_subcommand("top", "Watch devices, operators, memory, pipelines and the tuner of a process");
  c->add_option(
      "URL", o.url,
      "where a process serves with --metrics, such as 127.0.0.1:9750; left out: the devices of this machine");
  c->add_flag("--once", o.once, "print once and end");
  c->add_flag("--json", o.json, "print the snapshot as JSON, one line each time");
  c->add_option("--interval", o.interval, "seconds between updates")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0))
      ->type_name("S");
  c->footer("Example:\n  kolmo network data.csv --metrics 9750 &\n  kolmo top 127.0.0.1:9750");
  c->callback([] { top(o); });
}

}  // namespace kolmo::cli
