#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A time window in which every launch is recorded; `--trace FILE.json` writes it.
namespace kolmo::trace {

/// A time span on a track, such as "thread 7" or "cuda:0 stream 1".
struct Span {
  std::string name, track;
  double begin, seconds;  ///< `begin` since the start of the window
  /// The call as a JSON object: flops, bytes, device, options, and of each tensor name, kind ("in", "out", "inout"), dtype,
  /// shape and address. Empty if it is not known.
  std::string about = {};
};
struct Recording {
  double begin_unix = 0;  ///< start of the window, seconds since 1970
  double seconds = 0;
  std::vector<Span> spans;    ///< by begin
  std::uint64_t dropped = 0;  ///< spans beyond the capacity
};

/// Begins a window; an open one is discarded. A span takes about 100 bytes.
void start(std::size_t capacity = 1 << 18);
/// Ends the window. It excludes work that a device has not finished: synchronise first.
Recording stop();
bool active();

/// Adds to the open window, if any; `begin` in seconds of the steady clock.
void add(std::string_view name, std::string_view track, double begin, double seconds,
         std::string_view about = {});
std::string this_thread();

/// Writes Chrome's trace event format, which Perfetto (ui.perfetto.dev) also opens.
std::string chrome_json(const Recording& recording);

}  // namespace kolmo::trace
