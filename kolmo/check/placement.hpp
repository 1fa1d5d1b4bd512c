#pragma once
#include <string>
#include <vector>

#include "kolmo/check/problem.hpp"

namespace kolmo::check {

/// What outputs hold before a run (their poison). Floating and complex dtypes: NaN with all bits set, or a
/// large number. Other dtypes: a different byte for each of the two, so that elements that no run writes
/// differ between two runs.
enum class Poison : unsigned char { nan = 0xFF, large = 0x7F };
std::byte poison_byte(Poison poison, DType dtype);

/// The outcome of a run.
struct Outcome {
  HostTensors outputs;
  std::string damage;  ///< a guard zone or an input that was overwritten, as text; empty if none
};

/// A problem's tensors on a device, each between two guard zones, with outputs poisoned. In builds with
/// AddressSanitizer, reading the guard zones of host memory is an error, too.
class Placement {
 public:
  /// Places an output in the memory of an input; `alias` = {output, input} by field index.
  struct Alias {
    std::size_t output, input;
  };
  Placement(const Problem& problem, Stream& stream, Poison poison = Poison::nan,
            const Alias* alias = nullptr);
  ~Placement();

  void* args() { return args_.data(); }
  /// Queues copies of all tensors from a placement of a problem with equal shapes on the same device.
  void load(const Placement& from, Stream& stream);
  /// Copies all tensors back, after the work queued so far.
  Outcome collect(Stream& stream);
  /// Whether every byte of every output still has its poisoned value.
  bool untouched(const Outcome& outcome) const;

 private:
  struct Slot {
    Buffer buffer;
    std::vector<std::byte> image;  // the buffer as it was uploaded
    bool output = false;
  };
  Tensor whole(const Slot& slot) const;
  void guard(const Slot& slot, bool on) const;

  const OpBase* op_;
  Device device_;
  std::vector<std::byte> args_;
  std::vector<Slot> slots_;  // one per field
};

/// Names the first output element that was written neither in the first run, started with Poison::nan, nor in
/// the second, started with Poison::large; empty if there is none. If `second` is null, names the first
/// element that holds the poison of the first run, which may also be a result.
std::string unwritten(const OpBase& op, const HostTensors& first, const HostTensors* second = nullptr);

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
