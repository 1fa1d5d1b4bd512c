#include "cli/monitoring.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/files.hpp"
#include "cli/interrupt.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/monitor/server.hpp"
#include "kolmo/op/numerics.hpp"
#include "kolmo/runtime/monitor.hpp"
#include "kolmo/runtime/trace.hpp"

namespace kolmo::cli {
namespace {

std::unique_ptr<monitor::Server> server;
std::string trace_path;

void write_trace() {
  const trace::Recording recording = trace::stop();
  write_file(trace_path, trace::chrome_json(recording));
  if (recording.dropped)
    std::fprintf(stderr, "kolmo: note: the trace holds the first %zu spans; %llu more did not fit\n",
                 recording.spans.size(), static_cast<unsigned long long>(recording.dropped));
}

}  // namespace

void MonitoringOptions::add(CLI::App& command) {
  const std::string group = "Monitoring";
  command
      .add_option("--metrics", metrics,
                  "serve metrics and a live page at this address while it runs, e.g. 9750")
      ->type_name("ADDRESS")
      ->group(group);
  add_output(command, "--trace", trace, "write when every operator ran, for Perfetto or chrome://tracing")
      ->type_name("FILE.json")
      ->group(group);
  command
      .add_flag("--check-numerics", check_numerics,
                "stop at the first NaN or infinity made from finite numbers, overflows included")
      ->group(group);
  command.add_flag("--nvtx", nvtx, "mark operators as NVTX ranges for NVIDIA's profilers")->group(group);
}

void MonitoringOptions::begin() const {
  if (nvtx) monitor::set(monitor::nvtx, true);
  numerics::checked = check_numerics;
  if (!trace.empty()) {
    trace_path = trace;
    trace::start();
    write_at_interrupt(write_trace);
  }
  if (metrics.empty()) return;
  server = std::make_unique<monitor::Server>(metrics);
  std::fprintf(stderr, "kolmo: note: metrics at %s\n", server->url().c_str());
  if (!server->loopback())
    std::fprintf(stderr, "kolmo: note: everyone who can reach this address can read them\n");
}

std::string metrics_url() { return server ? server->url() : ""; }

void finish_monitoring() {
  server.reset();
  if (!trace_path.empty()) write_trace();
}

}  // namespace kolmo::cli
