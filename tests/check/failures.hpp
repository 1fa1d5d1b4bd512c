#pragma once
#include <map>
#include <string>

#include "kolmo/check/conformance.hpp"
#include "kolmo/op/define.hpp"

namespace kolmo::check {

inline std::map<std::string, std::string> failed(const Results& results) {
  std::map<std::string, std::string> all;
  for (const Result& r : results)
    if (!r.ok) all[r.aspect] = r.message;
  return all;
}

/// Returns the aspects of an operator's first case that fail on the CPU, with their messages. `Truth` is the
/// argument from which an Oracle is constructed.
template <class Args, class Truth>
std::map<std::string, std::string> failures(const OpInfo& info, const OpCode<Args>& code,
                                            const ImplCode<Args>& cpu, Truth truth) {
  const Definition<Args> definition{info, code};
  const Op<Args> op{definition};
  const Impl<Args> impl{cpu};
  const Oracle<Args> oracle{op, truth};
  return failed(check_case({"test", &definition, {&impl}}, oracle, 0, Device{}));
}

}  // namespace kolmo::check
