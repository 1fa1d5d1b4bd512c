#pragma once
#include "kolmo/check/problem.hpp"

namespace kolmo::check {

/// Runs an operator with each kind of wrong argument in turn: a tensor missing, without memory, of another
/// rank, dtype, device or extent, not contiguous; a number out of range. Throws Error unless each is refused
/// by an InvalidArgument whose message starts with the operator's name. Leaves the outputs as they are.
void check_refusals(const Problem& problem, Stream& stream);

/// Runs with the inputs of size `name` empty. Throws Error unless it is refused properly or does nothing
/// outside its outputs.
void check_empty(const OpBase& op, const CaseInfo& info, std::size_t index, std::string_view name,
                 Stream& stream, RunOptions options);

/// True when the inputs of this size can be emptied: integer inputs that stay may point into those that go.
bool can_be_empty(const Problem& problem, std::string_view name);

}  // namespace kolmo::check
