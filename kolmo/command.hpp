#pragma once

namespace kolmo {

/// The kolmo command with the operators of this program; called from main() of a program that adds operators.
/// Returns the exit status.
int command(int argc, char** argv);

}  // namespace kolmo
