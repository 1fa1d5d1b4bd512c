#pragma once
// The interface of the engine: to programs (Error, Config) and to the emulated language (everything else).
// Uses none of the language's macros, so host code may include this header alone.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

#include "simt/vector_types.hpp"

/// Marks the emulator's own code inside kernels, which need not be sanitized.
#define SIMT_PLAIN __attribute__((no_sanitize("address", "undefined")))

namespace simt {

using Where = std::source_location;

/// An error in a kernel or a launch. The message names kernel, block, thread and the line of the launch.
/// Thrown by launch().
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Settings, read once from the environment (SIMT_WORKERS, SIMT_REVERSE, ...); a program may change them
/// before its first launch.
struct Config {
  unsigned workers;          // OS threads that run blocks; default: one per core
  bool reverse;              // run the threads of a block in reverse order: exposes missing barriers
  bool exited_ok;            // accept barriers that returned threads do not reach (legal since Volta)
  std::size_t shared_limit;  // bytes of dynamic shared memory per block; default 227 KiB (sm_90)
  std::size_t stack;         // bytes per CUDA thread
};
Config& config();

/// Fills memory with a pattern that is NaN as double, float, bfloat16 and half. In an AddressSanitizer build,
/// a kernel that reads it causes a report of uninitialised memory. Shared memory is filled with it at the
/// start of every block.
void poison(void* memory, std::size_t bytes);

/// Throws Error(what), naming the calling thread and `at`.
[[noreturn]] void fail(const std::string& what, const Where& at);

enum class Scope : unsigned char {
  warp,       // waits for the lanes of a mask
  converged,  // waits until no lane of the warp can run; then takes the lanes at the same place
  block       // waits for every thread of the block
};

/// What one thread waits for; lives on that thread's stack.
struct Wait {
  void (*finish)(Wait* const* lanes, unsigned group);  // called once, after the whole group has arrived
  unsigned mask;                                       // mask of lanes, for Scope::warp
  Scope scope;
  bool orders_memory;
  const char* what;
  Where at;
  uint3 thread = {};
};
void wait(Wait&);

/// A barrier of the block; returns the number of threads with a true predicate.
int wait_block(bool predicate, const char* what, const Where& at);

/// Lets the other threads of the block run.
void yield();

/// Dynamic shared memory of the calling thread's block.
void* shared_memory();
/// Whether `bytes` at `p` are shared memory of the calling thread's block.
bool is_shared(const void* p, std::size_t bytes);
/// Throws if the bytes at `p` still hold the pattern of poison().
void check_initialised(const void* p, std::size_t bytes, const char* what, const Where& at);

/// A red zone beside a shared variable. In the symbol table it marks the variable for the engine.
struct alignas(8) Guard {
  char before[64];
  std::uint64_t block;  // number of the block in which the variable was last declared
  char after[56];
};
/// Called when a thread reaches the declaration of the shared variable beside `guard`.
void declare(Guard& guard);

/// The asynchronous copies that the calling thread has started and not yet waited for.
struct AsyncCopy {
  void* to;
  const void* from;
  unsigned bytes, zeros, group;
};
struct AsyncCopies {
  std::vector<AsyncCopy> pending;
  unsigned groups = 0;  // groups committed so far
};
AsyncCopies& async_copies();

/// One launch: `call(closure)` runs the kernel for one thread.
struct Job {
  dim3 grid;
  bool grid_fits;  // false: its size was truncated to 32 bits
  dim3 block;
  std::size_t shared;
  const void* kernel;
  void (*call)(const void* closure);
  const void* closure;
  Where at;
};
void run(const Job&);

}  // namespace simt
