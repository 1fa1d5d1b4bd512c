#pragma once
#include <functional>
#include <string>

namespace kolmo::cli {

/// From here on SIGINT and SIGTERM end the process with a line on standard error. Files are written beside
/// their target and renamed when complete, so no partial output is left. stream has handlers of its own.
void handle_interrupts();

/// Replaces the line, and makes the exit status 128 + the signal's number, instead of death by the signal.
void say_at_interrupt(const std::string& text);

/// `write` runs at the first signal, on a thread of its own, before the process ends with status 128 + the
/// signal's number; a second signal does not wait for it.
void write_at_interrupt(std::function<void()> write);

/// Says that the caller now writes what write_at_interrupt() would write; the next signal is ignored. Does
/// not return if a signal came before.
void finish_interrupts();

}  // namespace kolmo::cli
