#pragma once
#include <string>
#include <vector>

#include "kolmo/check/problem.hpp"

namespace kolmo::check {

/// Bytes that outputs hold before a run: an all-ones NaN in floating dtypes, and a value no operator makes.
enum class Poison : unsigned char { nan = 0xFF, large = 0x7F };

/// What a run left behind.
struct Outcome {
  HostTensors outputs;
  std::string damage;  ///< a guard zone or an input that was written, in words; empty if none
};

/// A problem's tensors on a device, each between two guard zones, outputs poisoned. Built with
/// AddressSanitizer, the guard zones of host memory may not even be read.
class Placement {
 public:
  /// `alias` = {output, input} by field index puts the output where the input is.
  struct Alias {
    std::size_t output, input;
  };
  Placement(const Problem& problem, Stream& stream, Poison poison = Poison::nan,
            const Alias* alias = nullptr);
  ~Placement();

  void* args() { return args_.data(); }
  /// Queues copying everything from a placement of an equally shaped problem on the same device.
  void load(const Placement& from, Stream& stream);
  /// Copies everything back, after the work queued so far.
  Outcome collect(Stream& stream);
  /// True when every byte of every output is as it was.
  bool untouched(const Outcome& outcome) const;

 private:
  struct Slot {
    Buffer buffer;
    std::vector<std::byte> image;  // of the buffer as it was uploaded
    bool output = false;
  };
  Tensor whole(const Slot& slot) const;
  void guard(const Slot& slot, bool on) const;

  const OpBase* op_;
  Device device_;
  std::vector<std::byte> args_;
  std::vector<Slot> slots_;  // one per field
};

/// Memory of a given number of bytes with guard zones at both ends, for workspaces.
class GuardedBytes {
 public:
  GuardedBytes(std::size_t bytes, Stream& stream);
  void* data() const;
  bool intact(Stream& stream) const;

 private:
  std::size_t bytes_;
  Buffer buffer_;
};

}  // namespace kolmo::check
