#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "kolmo/runtime/stream.hpp"
#include "kolmo/tune/clocks.hpp"
#include "kolmo/tune/load.hpp"
#include "kolmo/tune/measurer.hpp"

namespace kolmo::tune {

/// How work is measured; choose the mode in which it will be used. In `stream_*` modes it is queued call by
/// call, in `graph_*` modes replayed from a graph, and in `eager` the host's time for queueing is included.
/// In cold modes caches are overwritten before every sample.
enum class Mode : std::uint8_t { stream_hot, stream_cold, graph_hot, graph_cold, eager };
inline constexpr std::string_view mode_names[] = {"stream_hot", "stream_cold", "graph_hot", "graph_cold",
                                                  "eager"};
inline std::string_view to_string(Mode m) { return mode_names[std::size_t(m)]; }

struct MeasureOptions {
  Mode mode = Mode::stream_hot;
  double span = 0;  ///< minimum duration of a hot sample in seconds; 0: 100 us on GPUs, 1 ms on the CPU
  /// Maximum seconds of warm-up, which ends when windows of 20 ms agree within 1 %; 0: no warm-up, and
  /// samples of one call.
  double warm_up = 1;
  std::function<Clocks()> clocks;  ///< called after every sample; throttled samples are discarded
  std::function<Load()> load;      ///< called around every sample; disturbed samples are discarded
};

/// Times work on a stream. On a GPU it uses events around calls that are all queued before the first one
/// starts, so that gaps between launches do not count; on the CPU it uses the host's clock. A sample is
/// discarded if the clock was throttled or below 95 % of the session's median, or if other work disturbed it.
class StreamMeasurer final : public Measurer {
 public:
  /// `call(config)` queues the work once on the stream. `before(calls)` prepares that many calls, outside
  /// their time, and returns how many there may be. The call that a graph records counts as one too.
  StreamMeasurer(Stream stream, std::function<void(std::size_t config)> call, MeasureOptions options = {},
                 std::function<int(int calls)> before = {});

  double prepare(std::size_t config) override;
  std::optional<double> sample(std::size_t config) override;
  double spent() const override { return spent_; }

  /// The clock after each sample, in hertz; empty if not known.
  const std::vector<double>& clock_hertz() const { return hertz_; }
  double temperature_celsius() const { return temperature_; }
  const std::string& throttled() const { return throttled_; }
  std::size_t samples() const { return samples_; }
  std::size_t disturbed() const { return disturbed_; }  ///< samples discarded because of other work

 private:
  struct Prepared {
    int calls = 1;  // calls of a sample
    std::unique_ptr<Graph> graph;
  };
  bool cold() const { return options_.mode == Mode::stream_cold || options_.mode == Mode::graph_cold; }
  bool replayed() const { return options_.mode == Mode::graph_hot || options_.mode == Mode::graph_cold; }
  void warm_up(std::size_t config);
  int make_fresh(int calls) { return before_ ? before_(calls) : calls; }
  void flush();
  void queue(std::size_t config, Prepared& prepared);
  double make_ready(std::size_t config);
  double timed(std::size_t config, Prepared& prepared);
  double timed_by_host(std::size_t config, Prepared& prepared);
  bool clocks_are_steady();

  Stream stream_;
  std::function<void(std::size_t)> call_;
  std::function<int(int)> before_;
  MeasureOptions options_;
  Event begin_, end_;
  Buffer flushed_;
  std::map<std::size_t, Prepared> prepared_;
  std::vector<double> hertz_;
  double temperature_ = 0;
  std::string throttled_;
  bool warm_ = false;
  double spent_ = 0;
  std::size_t samples_ = 0, disturbed_ = 0;
};

}  // namespace kolmo::tune
