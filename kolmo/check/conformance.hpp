#pragma once
#include <functional>
#include <string>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/op/registry.hpp"

namespace kolmo::check {

/// One thing that was checked.
struct Result {
  std::string op, case_name, device, variant, aspect;
  bool ok = true;
  std::string message;   ///< why not
  double max_error = 0;  ///< of aspect "result": largest |got - want| / max(1, |want|)
};
using Results = std::vector<Result>;

/// Checks one case on one device, every variant that fits:
///   result       within the case's tolerance of the oracle for two draws of the inputs, every element
///   written memory       guard zones and inputs unchanged, no allocation beyond the workspace (operators
///   that run others
///                may have more)
///   workspace    no byte written outside it, no byte assumed to be zero
///   repeat       a second run gives the same bits, where claimed
///   same bits    those of the CPU's default variant, where claimed
///   threads      several CPU threads: the same bits as one where claimed, else within tolerance
///   in place     an output may be an input, where claimed
///   stream       a new stream behind work that makes the inputs
///   graph        capture runs nothing; replays see changed inputs
///   empty NAME   the size NAME is 0: refused, or done without touching anything else
///   arguments    missing, mis-shaped, mistyped or misplaced arguments are refused, outputs untouched
///   cost         finite, and at least the bytes of the fields
/// `index` counts the operator's cases. Never throws for what the operator does wrong.
Results check_case(const OpEntry& entry, const OracleBase& oracle, std::size_t index, Device device,
                   int threads = 2);

/// Runs the operator's hand-checked facts on a device.
Results check_facts(const OpEntry& entry, const OracleBase& oracle, Device device, int threads = 2);

/// All cases but the benchmark's, and an operator's facts. `each` sees every result as soon as it is there.
Results check_op(const OpEntry& entry, Device device, int threads,
                 const std::function<void(const Result&)>& each);

}  // namespace kolmo::check
