#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/table.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/json.hpp"
#include "kolmo/monitor/memory/analysis.hpp"
#include "kolmo/monitor/memory/export.hpp"

namespace kolmo::cli {
namespace {

using memory::PoolAnalysis;

struct MemoryFlags {
  std::string trace, pool, rmm, pytorch;
  bool json = false;
};

constexpr std::size_t chart_columns = 72, chart_rows = 8, rows_shown = 8;

std::string bytes(std::uint64_t n) { return bytes_text(double(n)); }

void headline(const PoolAnalysis& a, double seconds) {
  std::cout << '\n'
            << paint(Color::bold, a.end.name) << ": " << a.allocations << " allocations, " << a.frees
            << " frees";
  if (seconds > 0) std::cout << ", " << significant(double(a.allocations) / seconds, 3) << " per second";
  std::cout << '\n';
}

void numbers(const PoolAnalysis& a) {
  std::string from;
  for (int i = 0; i < memory_sources; ++i)
    from += (i ? ", " : "") + std::string(memory_source_names[i]) + " " +
            percent(a.allocations ? double(a.from[i]) / double(a.allocations) : 0);
  const auto line = [](const char* name, const std::string& text) {
    std::cout << "  " << std::string(name).append(13 - std::string_view(name).size(), ' ') << text << '\n';
  };
  line("requested",
       "peak " + bytes(a.peak_requested) + " after " + duration(a.peak_seconds) +
           ", internal fragmentation then " +
           (a.peak_internal_fragmentation ? percent(*a.peak_internal_fragmentation) : "not known") +
           (a.peak_may_be_lost ? "; once " + bytes(a.end.peak_bytes) + ", perhaps among the lost events"
                               : ""));
  line("granted", "peak " + bytes(a.peak_granted));
  line("reserved", "peak " + bytes(a.reserved_peak) + "; " + std::to_string(a.reserves) + " chunks taken, " +
                       std::to_string(a.releases) + " given back");
  line("needed", "at least " + bytes(a.lower_bound) + ", packed offline " + bytes(a.packed) +
                     ": reuse potential " + percent(a.reuse_potential));
  line("from", from);
  line("at the end", bytes(a.end.live_bytes) + " live in " + std::to_string(a.end.live) + ", " +
                         bytes(a.end.reserved_bytes) + " reserved, " + percent(a.end.idle_ratio()) +
                         " idle, " + percent(a.end.external_fragmentation()) +
                         " external fragmentation, satisfiability " + percent(a.end.satisfiability));
  if (a.retries || a.failures)
    line("shortages", std::to_string(a.retries) + " times emptied and tried again, " +
                          std::to_string(a.failures) + " times out of memory");
}

/// Prints memory over time: the bytes requested, those added by rounding up, and the unused reserve.
void chart(const PoolAnalysis& a, double seconds) {
  std::uint64_t top = 1;
  for (const auto& m : a.course) top = std::max({top, m.granted, m.reserved});
  std::cout << '\n';
  for (std::size_t row = chart_rows; row-- > 0;) {
    const double floor = double(top) * (double(row) + 0.5) / double(chart_rows);
    std::string cells;
    for (const auto& m : a.course)
      cells += double(m.requested) >= floor  ? "█"
               : double(m.granted) >= floor  ? "▓"
               : double(m.reserved) >= floor ? "░"
                                             : " ";
    const std::string label = row == chart_rows - 1 ? bytes(top) : row == 0 ? "0 B" : "";
    std::cout << std::string(12 - std::min<std::size_t>(label.size(), 12), ' ') << label << " │" << cells
              << '\n';
  }
  const std::string end = duration(seconds);
  std::cout << std::string(13, ' ') << "└" << std::string(chart_columns - end.size(), ' ') << end << '\n'
            << std::string(14, ' ') << "█ requested  ▓ rounding  ░ reserved\n";
}

void chunks(const memory::TracePool& pool) {
  if (pool.chunks.empty()) return;
  std::cout << "\n  chunks at the end (░ free, ▓ in part, █ in use)\n";
  for (std::size_t i = 0; i < std::min(rows_shown, pool.chunks.size()); ++i) {
    const auto& c = pool.chunks[i];
    constexpr std::size_t cells = 64;
    std::vector<double> used(cells);
    for (const auto& b : c.blocks) {
      if (!b.used) continue;
      const double scale = double(cells) / double(std::max<std::uint64_t>(c.bytes, 1));
      const double begin = double(b.address - c.address) * scale, end = begin + double(b.bytes) * scale;
      for (std::size_t cell = std::size_t(begin); cell < cells && double(cell) < end; ++cell)
        used[cell] += std::min(end, double(cell) + 1) - std::max(begin, double(cell));
    }
    const std::string size = bytes(c.bytes);
    std::cout << std::string(12 - std::min<std::size_t>(size.size(), 12), ' ') << size << " │";
    for (const double u : used) std::cout << (u < 0.01 ? "░" : u > 0.99 ? "█" : "▓");
    std::cout << "│\n";
  }
  if (pool.chunks.size() > rows_shown) std::cout << "  and " << pool.chunks.size() - rows_shown << " more\n";
}

void tables(const PoolAnalysis& a) {
  TextTable sizes({"size", ">count", ">most live", ">granted", ">lost to rounding"});
  for (std::size_t i = 0; i < std::min(rows_shown, a.sizes.size()); ++i) {
    const auto& s = a.sizes[i];
    sizes.add({bytes(s.requested), std::to_string(s.count), std::to_string(s.peak_live), bytes(s.granted),
               bytes(s.wasted())});
  }
  TextTable tags({"tag", ">count", ">peak", ">live", ">median life", ">growth per second", ""});
  for (std::size_t i = 0; i < std::min(rows_shown, a.tags.size()); ++i) {
    const auto& t = a.tags[i];
    tags.add({t.tag.empty() ? "(none)" : printable(t.tag), std::to_string(t.count), bytes(t.peak_bytes),
              bytes(t.live_bytes), t.median_life > 0 ? duration(t.median_life) : "-",
              t.slope > 0 ? bytes_text(t.slope) : "-", t.leak_suspect ? "may leak" : ""});
  }
  for (const TextTable* t : {&sizes, &tags})
    if (!t->empty()) {
      std::cout << '\n';
      t->print(std::cout);
    }
}

void advice(const PoolAnalysis& a) {
  if (a.recommendations.empty()) return;
  std::cout << "\n  advice\n";
  for (const auto& r : a.recommendations)
    std::cout << "  " << r.rule << ": " << r.evidence << ";\n      " << r.action << " (" << bytes(r.bytes)
              << ")\n";
}

/// The pool that was asked for, or else the one with the most events.
std::size_t chosen_pool(const memory::Trace& trace, const MemoryFlags& o) {
  std::string names;
  std::vector<std::size_t> events(trace.pools.size());
  for (const auto& e : trace.events) ++events[e.pool];
  std::size_t best = 0;
  for (std::size_t i = 0; i < trace.pools.size(); ++i) {
    if (trace.pools[i].stats.name == o.pool) return i;
    names += (i ? ", " : "") + trace.pools[i].stats.name;
    if (events[i] > events[best]) best = i;
  }
  if (!o.pool.empty())
    fail<InvalidArgument>(o.trace + ": has no pool '" + o.pool + "'; there " +
                          (names.empty() ? "is none" : "are " + names));
  if (trace.pools.empty()) fail<InvalidArgument>(o.trace + ": no pool was in use");
  return best;
}

/// Reads and checks a trace. It may come from anyone, and its names are printed on the terminal.
memory::Trace trace_of(const std::string& path) {
  constexpr std::uint64_t most = 512 << 20;
  const std::string label = file_label(path);
  memory::Trace trace =
      memory::read_trace(parse_json<nlohmann::ordered_json>(read_file(path, most), label), label);
  trace.began = printable(trace.began);
  for (std::string& tag : trace.tags) tag = printable(tag, 200);
  for (memory::TracePool& pool : trace.pools) pool.stats.name = printable(pool.stats.name, 200);
  return trace;
}

void show(const MemoryFlags& o) {
  const memory::Trace trace = trace_of(o.trace);
  const std::size_t one = chosen_pool(trace, o);
  if (!o.rmm.empty()) write_file(o.rmm, memory::rmm_csv(trace, one));
  if (!o.pytorch.empty()) write_file(o.pytorch, memory::pytorch_snapshot(trace, one));

  nlohmann::ordered_json pools = nlohmann::ordered_json::array();
  if (!o.json)
    std::cout << trace.began << ", " << duration(trace.seconds) << ": " << trace.events.size() << " events, "
              << trace.lost << " lost\n";
  for (std::size_t i = 0; i < trace.pools.size(); ++i) {
    if (!o.pool.empty() && i != one) continue;
    const PoolAnalysis a = memory::analyse(trace, i, chart_columns);
    if (o.json) {
      pools.push_back(to_json(a));
      continue;
    }
    if (!a.allocations && !a.frees && !a.end.reserved_bytes) continue;
    headline(a, trace.seconds);
    numbers(a);
    chart(a, trace.seconds);
    tables(a);
    chunks(trace.pools[i]);
    advice(a);
  }
  if (o.json)
    std::cout << nlohmann::ordered_json{{"began", trace.began},
                                        {"seconds", trace.seconds},
                                        {"events", trace.events.size()},
                                        {"lost", trace.lost},
                                        {"pools", std::move(pools)}}
                     .dump(2)
              << '\n';
}

}  // namespace

void add_memory(CLI::App& app, Context&) {
  static MemoryFlags o;
  auto* command = app.add_subcommand("memory", "What a program did with memory, from a trace");
  add_input(*command, "trace", o.trace,
            "a file that `kolmo --memory-trace FILE COMMAND ...` wrote; - for standard input")
      ->required()
      ->type_name("TRACE.json");
  command->add_option("--pool", o.pool, "only this pool, e.g. cpu or cuda:0")->type_name("NAME");
  add_output(*command, "--rmm", o.rmm, "also write the pool's events as an RMM log")->type_name("FILE.csv");
  add_output(*command, "--pytorch", o.pytorch, "also write a snapshot for pytorch.org/memory_viz")
      ->type_name("FILE.pickle");
  command->add_flag("--json", o.json, "print JSON");
  command->footer(
      "Every number is defined in docs/memory.md. Without --pool, the exports are of the pool with most "
      "events.\n"
      "Example:\n  kolmo --memory-trace t.json run digamma --in x=x.npy --out y=y.npy\n  kolmo memory "
      "t.json");
  command->callback([] { show(o); });
}

}  // namespace kolmo::cli
