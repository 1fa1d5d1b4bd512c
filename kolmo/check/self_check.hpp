#pragma once
#include "kolmo/check/conformance.hpp"

namespace kolmo::check {

/// Checks an operator's definition, without running it:
///   names     of fields, options, aliases and cases are unique and usable in C++ and Python; names that
///             cases and fields refer to exist
///   texts     none is empty or a placeholder of the template
///   rows      of every device have unique names; row 0 is not the naive one
///   options   the defaults, and the values that aliases bind, are in range
///   coverage  each dtype, value of a choice or flag, optional argument (given, and left out), alias and
///             claim to work in place has a case that is small enough to be checked; a case of an alias has
///             the options that it binds; tolerances are finite, and relative ones below 1
///   cost      a count of operations is given
/// Returns one result for each. A dtype that is declared but has no code is found by running its case.
Results check_definition(const OpEntry& entry);

}  // namespace kolmo::check
