#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <thread>

#include "cli/commands.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/top_view.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/json.hpp"
#include "kolmo/monitor/server.hpp"
#include "kolmo/monitor/watch.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct TopFlags {
  std::string url;
  bool once = false, json = false;
  double interval = 1;
};

/// Takes snapshots of a process, or of this machine.
class Source {
 public:
  explicit Source(const std::string& url) : url_(url) {
    if (!url.empty()) return;
    own_.emplace();
    std::this_thread::sleep_for(std::chrono::seconds(1));  // rates need two readings
  }
  Json snapshot(bool curves) {
    if (own_) return own_->snapshot(curves);
    const std::string path = curves ? "/api/v1/snapshot?curves=1" : "/api/v1/snapshot";
    return parse_json<Json>(monitor::fetch(url_, path), url_ + ": " + path);
  }

 private:
  std::string url_;
  std::optional<monitor::Watch> own_;
};

/// The view that fills a terminal, until the user leaves it.
class Screen {
 public:
  Screen(const TopFlags& o, Source& source) : o_(o), source_(source) {}

  void run() {
    snapshot_ = source_.snapshot(true);
    view_.head(snapshot_);  // throws if it is no snapshot
    Terminal terminal;
    for (auto next = Clock::now();;) {
      if (Clock::now() >= next) {
        look();
        next = Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(o_.interval));
      }
      terminal.show(lines(Terminal::size()));
      const std::chrono::duration<double> left = next - Clock::now();
      if (!press(terminal.key(std::max(0.0, left.count())))) return;
    }
  }

 private:
  /// Takes the newest snapshot. If there is none, the last one stays and the reason is shown.
  void look() {
    try {
      Json s = source_.snapshot(true);
      view_.head(s);
      snapshot_ = std::move(s);
      failure_.clear();
    } catch (const Error& e) {
      failure_ = e.what();
    }
  }

  std::vector<std::string> lines(Terminal::Size size) {
    view_.columns = size.columns;
    std::vector<std::string> shown = view_.head(snapshot_), body = view_.body(snapshot_);
    // So many rows of the body stay visible; devices that then do not fit into the head come first in the
    // body.
    const std::size_t least = 8;
    if (shown.size() + least > size.rows) {
      const std::size_t kept =
          std::min(shown.size(), std::max<std::size_t>(3, size.rows > least ? size.rows - least : 0));
      body.insert(body.begin(), shown.begin() + std::ptrdiff_t(kept), shown.end());
      shown.resize(kept);
    }
    shown.emplace_back();
    if (body.empty()) body.emplace_back("No operator has run yet.");
    const std::size_t footer = 1, used = shown.size() + footer;
    room_ = size.rows > used ? size.rows - used : 0;
    length_ = body.size();
    top_ = std::min(top_, length_ - std::min(room_, length_));
    for (std::size_t i = top_; i < std::min(length_, top_ + room_); ++i)
      shown.push_back(clipped(body[i], size.columns));
    shown.resize(size.rows > footer ? size.rows - footer : 0);
    shown.push_back(footer_line(size.columns));
    return shown;
  }

  std::string footer_line(std::size_t columns) const {
    if (!failure_.empty()) return clipped(paint(Color::red, "Old: " + printable(failure_, 1000)), columns);
    std::string text = "q quit  s sort: " + std::string(TopView::sort_names[std::size_t(view_.sort)]) +
                       (view_.reversed ? ", reversed" : "") + "  r reverse  up/down scroll";
    if (length_ > room_)
      text += "  lines " + std::to_string(top_ + 1) + " to " +
              std::to_string(std::min(length_, top_ + room_)) + " of " + std::to_string(length_);
    return clipped(paint(Color::dim, text), columns);
  }

  /// Acts on a key. Returns false for a key that leaves the view.
  bool press(const std::string& key) {
    const std::size_t page = std::max<std::size_t>(1, room_);
    if (key == "q" || key == "Q" || key == "escape") return false;
    if (key == "s")
      view_.sort = TopView::Sort((std::size_t(view_.sort) + 1) % std::size(TopView::sort_names));
    if (key == "r") view_.reversed = !view_.reversed;
    if (key == "down" || key == "j") ++top_;
    if (key == "up" || key == "k") top_ -= std::min<std::size_t>(top_, 1);
    if (key == "page down" || key == " ") top_ += page;
    if (key == "page up" || key == "b") top_ -= std::min(top_, page);
    if (key == "home" || key == "g") top_ = 0;
    if (key == "end" || key == "G") top_ = length_;
    return true;
  }

  const TopFlags& o_;
  Source& source_;
  TopView view_;
  Json snapshot_;
  std::string failure_;
  std::size_t top_ = 0, room_ = 0, length_ = 0;  // of the body: first line shown, lines that fit, all lines
};

void top(const TopFlags& o) {
  Source source(o.url);
  if (isatty(STDOUT_FILENO) && !o.once && !o.json) return Screen(o, source).run();
  for (;; std::this_thread::sleep_for(std::chrono::duration<double>(o.interval))) {
    const Json s = source.snapshot(false);
    if (o.json)
      std::cout << s.dump(o.once ? 2 : -1, ' ', false, Json::error_handler_t::replace) << '\n';
    else
      std::cout << top_text(s) << (o.once ? "" : "\n");
    if (o.once || !std::cout.flush()) return;
  }
}

}  // namespace

void add_top(CLI::App& app, Context&) {
  static TopFlags o;
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
  c->footer(
      "Keys: q quits, s sorts by the next column, r reverses; arrows, page up and down, home and end "
      "scroll.\n"
      "Example:\n  kolmo network data.csv --metrics 9750 &\n  kolmo top 127.0.0.1:9750");
  c->callback([] { top(o); });
}

}  // namespace kolmo::cli
