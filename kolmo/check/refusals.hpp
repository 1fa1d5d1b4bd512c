#pragma once
#include "kolmo/check/problem.hpp"
#include "kolmo/op/registry.hpp"

namespace kolmo::check {

/// Runs an operator with each kind of wrong argument in turn: a missing tensor, one without memory, one of
/// another rank, dtype, device or extent, one that is not contiguous, a number out of range. Throws Error
/// unless each is refused with an InvalidArgument whose message starts with the operator's name and the
/// outputs stay as they are.
void check_refusals(const OpEntry& entry, const Problem& problem, Stream& stream);

/// Runs an operator with empty inputs of size `name`. Throws Error unless the call is refused with
/// InvalidArgument or writes only to its outputs.
void check_empty(const OpEntry& entry, const CaseInfo& info, std::size_t index, std::string_view name,
                 Stream& stream, RunOptions options);

/// Whether the inputs of this size can be emptied. They cannot if inputs that remain may hold indices into
/// those that are emptied, which includes integers of an unspecified or sorted domain.
bool can_be_empty(const Problem& problem, std::string_view name);

}  // namespace kolmo::check
