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
  std::string message;   ///< why it failed
  double max_error = 0;  ///< for the aspect "result": largest error over its tolerance
};
using Results = std::vector<Result>;

/// Checks one case on one device, for every variant that fits:
///   result      within the case's tolerance of the oracle, for two draws of the inputs
///   memory      guard zones and inputs unchanged, no allocation beyond the workspace
///   workspace   no write outside it, no byte assumed to be zero
///   repeat      every element is written; a second run gives the same bits, where claimed
///   same bits   the bits of the CPU's default variant, where claimed
///   threads     several CPU threads: the bits of one thread where claimed, else within tolerance
///   in place    an output may be an input, where claimed
///   stream      a new stream, after work that produces the inputs
///   graph       capture runs nothing; replays read changed inputs
///   empty NAME  the size NAME is 0: refused, or done without touching anything else
///   arguments   missing, mis-shaped, mistyped or misplaced arguments are refused, outputs untouched
///   cost        the number of operations is finite
/// `index` is the number of the case in the operator's list. `only` names a single check to run. If it is empty, all
/// run, except on the emulated GPU: there heavy cases check "result" alone, for one draw, and with AddressSanitizer so
/// do all cases. An error of the operator becomes a failed Result and is never thrown.
Results check_case(const OpEntry& entry, const OracleBase& oracle, std::size_t index, Device device,
                   int threads = 2, std::string_view only = {});

/// Runs the operator's hand-checked facts on a device.
Results check_facts(const OpEntry& entry, const OracleBase& oracle, Device device, int threads = 2);

/// Aspect "reached": every variant fits one of the cases that are checked. Variants that call a library are left out;
/// those marked hardware_only are checked on GPUs of capability 9.0 only, for which they are written.
Results check_reach(const OpEntry& entry, Device device);

/// Runs all cases except those for benchmarks only, the operator's facts, check_reach(), and the checks of
/// its definition (self_check.hpp). With `only`, only that aspect of the cases is checked; facts belong to
/// "result". Fails if no case was checked. `each` is called with every result as soon as it exists.
Results check_op(const OpEntry& entry, const OracleBase& oracle, Device device, int threads,
                 const std::function<void(const Result&)>& each, std::string_view only = {});
/// Does the same with the oracle that the catalogue lists for the operator.
Results check_op(const OpEntry& entry, Device device, int threads,
                 const std::function<void(const Result&)>& each, std::string_view only = {});

}  // namespace kolmo::check
