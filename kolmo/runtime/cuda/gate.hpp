#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace kolmo {

/// Lets a stream wait for the host. The device's front end polls a word of host memory (cuStreamWaitValue32),
/// so no kernel spins and no multiprocessor is occupied.
class Gate {
 public:
  Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Closes the gate. It opens when the returned object is destroyed, or after two seconds, because a call
  /// that itself waits for the stream would otherwise wait forever. Returns null if the driver does not
  /// support it.
  std::shared_ptr<void> close(void* stream);

 private:
  void* wait_ = nullptr;
  std::uint32_t* word_ = nullptr;  // never freed: a stream may still be polling it
  void* on_device_ = nullptr;
  std::atomic<std::uint32_t> tickets_{0};
};

}  // namespace kolmo
