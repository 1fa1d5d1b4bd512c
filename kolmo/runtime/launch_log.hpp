#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace kolmo {

class Kernel;

/// The parameters of a kernel launch.
struct Launch {
  const void* kernel;  ///< address of the kernel's host function; null for one given at run time
  std::array<unsigned, 3> grid, block;
  std::size_t shared;                             ///< dynamic shared memory, bytes
  std::shared_ptr<const Kernel> given = nullptr;  ///< if it was given at run time
};

/// While such an object exists, kernels that its thread launches are logged and not run: it shows what an
/// operator would do on a GPU, and needs no GPU.
class LaunchLog {
 public:
  LaunchLog() : outer_(std::exchange(current_, this)) {}
  LaunchLog(const LaunchLog&) = delete;
  LaunchLog& operator=(const LaunchLog&) = delete;
  ~LaunchLog() { current_ = outer_; }

  std::vector<Launch> launches;

  /// The calling thread's log; null if launches are run.
  static LaunchLog* current() { return current_; }

 private:
  static inline constinit thread_local LaunchLog* current_ = nullptr;
  LaunchLog* outer_;
};

}  // namespace kolmo
