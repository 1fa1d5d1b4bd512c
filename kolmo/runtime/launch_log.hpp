#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace kolmo {

class Kernel;

/// A kernel launch as it was asked for.
struct Launch {
  const void* kernel;  ///< address of the kernel's host function; null for one given at run time
  std::array<unsigned, 3> grid, block;
  std::size_t shared;                             ///< dynamic shared memory, bytes
  std::shared_ptr<const Kernel> given = nullptr;  ///< at run time
};

/// While one lives, the kernels that its thread launches are written down and not run: what an operator would
/// do on a GPU is seen on a machine without one.
class LaunchLog {
 public:
  LaunchLog() : outer_(std::exchange(current_, this)) {}
  LaunchLog(const LaunchLog&) = delete;
  LaunchLog& operator=(const LaunchLog&) = delete;
  ~LaunchLog() { current_ = outer_; }

  std::vector<Launch> launches;

  /// The calling thread's log, null where launches are run.
  static LaunchLog* current() { return current_; }

 private:
  static inline constinit thread_local LaunchLog* current_ = nullptr;
  LaunchLog* outer_;
};

}  // namespace kolmo
