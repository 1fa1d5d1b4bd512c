#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "kolmo/base/status.hpp"
#include "kolmo/runtime/backend.hpp"

namespace kolmo {

/// The status word of a stream (base/status.hpp) and the launches that reports may refer to. Reports reach
/// the host when the stream is synchronised; on a device that works in host memory, right after the launch.
/// Launches are numbered from 0 again once all earlier ones are done and checked. Launches recorded into
/// graphs keep numbers of their own, after all others. Beyond 32767 of either kind, launches share the last
/// number; the error then names an operator only if all of these belong to one operator.
class StreamStatus {
 public:
  StreamStatus(Backend& backend, Backend::Handle stream) : backend_(backend), stream_(stream) {}
  StreamStatus(const StreamStatus&) = delete;
  StreamStatus& operator=(const StreamStatus&) = delete;
  ~StreamStatus() { release(); }
  /// Frees the word, before its stream is destroyed.
  void release() noexcept;

  /// The status for a launch of an operator with these faults; both must live until the process ends. For an
  /// empty list the status has no word. Throws Unsupported if the word does not exist yet while the stream is
  /// captured by its owner.
  Status begin(std::string_view op, std::span<const std::string_view> faults);
  /// Allocates the word, which is not possible while the stream is captured.
  void prepare();
  /// Notes that a graph has queued again work that may report.
  void replayed() { pending_ = word_ != nullptr; }
  /// The status of the launch in progress. A composite operator restores its own after an inner one.
  Status current;
  /// Throws InvalidArgument for faults reported since the last call, once the work before is done. Reads
  /// nothing if no launch could have reported.
  void check();
  bool checked = true;  ///< false: the unchecked mode

 private:
  static constexpr std::size_t remembered = (1 << 15) - 1;
  struct Launch {
    std::string_view op;
    std::span<const std::string_view> faults;
  };
  static std::size_t add(std::vector<Launch>& launches, const Launch& launch);
  std::size_t number_of(const Launch& launch, bool captured);

  Backend& backend_;
  Backend::Handle stream_;
  unsigned long long* word_ = nullptr;
  std::vector<Launch> queued_, captured_;  // numbered from 0, and from `remembered` on
  // Where the graph that is being recorded continues.
  std::size_t next_captured_ = 0;
  bool pending_ = false;
};

}  // namespace kolmo
