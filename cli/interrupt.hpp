#pragma once
#include <sys/types.h>

#include <csignal>
#include <functional>
#include <string>

namespace kolmo::cli {

/// From here on SIGINT, SIGTERM and SIGHUP end the process with a line on standard error, and leave no temporary file.
/// SIGHUP stays ignored if it was, as nohup wants it. SIGXFSZ is ignored: a file that becomes too long is an error of writing.
void handle_interrupts();

/// Gives those signals another handler.
void handle_ending_signals(const struct sigaction& action);

/// From here on those signals are ignored.
void ignore_interrupts();

/// Such a signal ends another process too, until this is called with 0.
void pass_interrupts_on(pid_t process);

/// Replaces the line, and makes the exit status 128 + the signal's number, instead of death by the signal.
void say_at_interrupt(const std::string& text);

/// `write` runs at the first signal, on a thread of its own, before the process ends with status 128 + the
/// signal's number; a second signal does not wait for it.
void write_at_interrupt(std::function<void()> write);

/// Says that the caller now writes what write_at_interrupt() would write; the next signal is ignored. Does
/// not return if a signal came before.
void finish_interrupts();

}  // namespace kolmo::cli
