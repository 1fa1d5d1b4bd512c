#pragma once
#include <functional>
#include <string>

#include "kolmo/op/registry.hpp"
#include "kolmo/tune/store.hpp"
#include "kolmo/tune/stream_measurer.hpp"

namespace kolmo::tune {

/// What run() is to be given for a call.
struct Candidate {
  RunOptions options;
  std::string label;  ///< "block 256", "blocked, 2 threads"
};

/// The configurations of one call on a stream: the rows of the operator's table of variants that fit, and on
/// the CPU the number of threads. `feasible` may remove further rows (those that no multiprocessor can hold).
class CallSpace {
 public:
  CallSpace(const OpBase& op, const void* args, const Stream& stream,
            const std::function<bool(int variant)>& feasible = {});

  const Space& space() const { return space_; }
  Candidate operator[](std::size_t config) const;
  /// What run() does on its own.
  std::size_t standard() const;
  /// The naive row, -1 when there is none.
  int naive() const;
  int find(const RunOptions& options) const;  ///< -1 when it is not in the space
  bool vendor(std::size_t config) const;      ///< whether its row calls a vendor's library

 private:
  std::vector<Variant> variants_;
  Space space_;
  int standard_;
};

/// stream_cold on GPUs, where what a call reads was usually written long ago; stream_hot elsewhere.
Mode default_mode(DeviceKind kind);

struct CallOptions {
  TuneOptions search;  ///< its default, incumbent and naive configurations are set from the call
  MeasureOptions measure;
  /// Checks a candidate's results, as TuneOptions::verify does: check::by_oracle() makes one.
  std::function<std::string(const OpBase& op, const void* args, const RunOptions&)> verify;
  std::function<bool(int variant)> feasible;
};

struct TunedCall {
  CallSpace space;
  Environment environment;
  Profile profile;
  Tuning tuning;
};

/// Finds the configuration of one call by running it, many times, on the stream: outputs are overwritten, and
/// so are tensors that are both input and output. The configuration that `known` has for this key is the
/// incumbent. Naive rows are left out where a hundred times the default's time would exceed the budget.
/// `around` may put another measurer around the stream's; then naive rows are left out, too. Throws
/// InvalidArgument while the stream is captured, and what the operator throws.
TunedCall tune_call(const OpBase& op, const void* args, Stream& stream, const CallOptions& options = {},
                    const Store* known = nullptr,
                    const std::function<std::unique_ptr<Measurer>(Measurer&)>& around = {});
/// Puts a result that was decided into a store, and strikes it off its list of misses.
void keep(const TunedCall& tuned, Store& store);
/// Whether the store has a configuration for this call, measured in this mode, that is neither stale nor too
/// old.
bool fresh(const OpBase& op, const void* args, const Stream& stream, Mode mode, const Store& store);

/// A call that an application is going to make.
struct PlannedCall {
  const OpBase* op;
  const void* args;
};
/// The start-up window: tunes those of these calls that the store has nothing fresh for, in this order, until
/// `seconds` have passed; then uses the store. Nothing is tuned outside a call of this function. Returns how
/// many calls were tuned.
std::size_t tune_at_startup(std::span<const PlannedCall> calls, Stream& stream, Store& store, double seconds,
                            const CallOptions& options = {});

}  // namespace kolmo::tune
