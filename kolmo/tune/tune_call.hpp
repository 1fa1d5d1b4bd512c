#pragma once
#include <functional>
#include <string>

#include "kolmo/op/registry.hpp"
#include "kolmo/tune/store.hpp"
#include "kolmo/tune/stream_measurer.hpp"

namespace kolmo::tune {

/// The arguments of run() for a configuration of a call.
struct Candidate {
  RunOptions options;
  std::string label;  ///< "block 256", "blocked, 2 threads"
};

/// The configurations of one call on a stream: the rows of the operator's table of variants that fit, and on
/// the CPU the number of threads. `feasible` may exclude further rows (those that no multiprocessor can
/// hold).
class CallSpace {
 public:
  CallSpace(const OpBase& op, const void* args, const Stream& stream,
            const std::function<bool(int variant)>& feasible = {});

  const Space& space() const { return space_; }
  Candidate operator[](std::size_t config) const;
  /// The configuration that run() takes by default.
  std::size_t standard() const;
  /// The naive row, -1 if there is none.
  int naive() const;
  int find(const RunOptions& options) const;  ///< -1 if it is not in the space
  bool vendor(std::size_t config) const;      ///< whether its row calls a vendor's library

 private:
  std::vector<Variant> variants_;
  Space space_;
  int standard_;
};

/// Returns stream_cold on GPUs, where the inputs of a call were usually written long before, and stream_hot
/// elsewhere.
Mode default_mode(DeviceKind kind);

struct CallOptions {
  TuneOptions search;  ///< its default, incumbent and naive configurations are set from the call
  MeasureOptions measure;
  /// Checks a candidate's results, like TuneOptions::verify; see check::by_oracle().
  std::function<std::string(const OpBase& op, const void* args, const RunOptions&)> verify;
  std::function<bool(int variant)> feasible;
};

struct TunedCall {
  CallSpace space;
  Environment environment;
  Profile profile;
  Tuning tuning;
};

/// Finds the configuration of one call by running it many times on the stream. Outputs are overwritten. Tensors
/// that are both input and output stay as they are: each call that is measured begins with a copy of their values
/// (a graph has one copy, so its samples have one call). The configuration of this key in `known` is the incumbent.
/// Naive rows are left out if a hundred times the default's time would exceed the budget. `around` may wrap
/// the stream's measurer in another one; then naive rows are left out, too. Throws InvalidArgument while the
/// stream is captured, Busy if MeasureOptions::load says that other work disturbed most samples, and what the
/// operator throws.
TunedCall tune_call(const OpBase& op, const void* args, Stream& stream, const CallOptions& options = {},
                    const Store* known = nullptr,
                    const std::function<std::unique_ptr<Measurer>(Measurer&)>& around = {});
/// Stores a result that was decided, and removes the call from the store's list of misses.
void keep(const TunedCall& tuned, Store& store);
/// Throws InvalidArgument if the store could not keep a result for this call (Store::require_writable).
void require_writable(const OpBase& op, const void* args, const Stream& stream, Mode mode,
                      const Store& store);
/// Whether the store has a configuration for this call, measured in this mode, that is neither stale nor
/// expired.
bool fresh(const OpBase& op, const void* args, const Stream& stream, Mode mode, const Store& store);

/// A call that an application will make.
struct PlannedCall {
  const OpBase* op;
  const void* args;
};
/// Start-up tuning: tunes those of these calls for which the store has no fresh configuration, in this order,
/// until `seconds` have passed; then uses the store. All tuning happens within this call. Returns the number
/// of calls that were tuned.
std::size_t tune_at_startup(std::span<const PlannedCall> calls, Stream& stream, Store& store, double seconds,
                            const CallOptions& options = {});

}  // namespace kolmo::tune
