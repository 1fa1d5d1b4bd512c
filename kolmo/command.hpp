#pragma once

namespace kolmo {

/// The kolmo command with the operators of this program: main() of a program that adds its own. Returns the
/// exit status.
int command(int argc, char** argv);

}  // namespace kolmo
