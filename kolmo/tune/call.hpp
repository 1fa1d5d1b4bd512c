#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kolmo/op/registry.hpp"
#include "kolmo/tune/profile.hpp"

namespace kolmo::tune {

/// The properties that determine a call's configuration, as numbers in the order defined by CallReader.
struct CallNumbers {
  static constexpr std::size_t capacity = 48;
  std::array<std::int64_t, capacity> items;
  std::size_t count = 0;

  void push(std::int64_t n) { items[count++] = n; }
  /// The hash of these numbers for the operator with this index in the catalogue, on this device.
  std::uint64_t hash(std::uint64_t op, Device device) const;
};

/// Reads off an operator's arguments which configuration they share. What counts is the dtype, the buckets of
/// the named sizes of the given inputs (or of the outputs, if no input is compulsory; "..." counts as the
/// product of its dimensions), which optional tensors are given, flags, choices and integers. Integers enter
/// by their bucket, negative ones as they are; they do not enter if their range goes beyond 2^31, as that of
/// seeds does. Real numbers, and fields that are declared no matter for speed, never enter. Throws
/// Unsupported for an operator with more than 48 of these.
class CallReader {
 public:
  explicit CallReader(const OpBase& op);

  const OpBase& op() const { return *op_; }
  /// Requires well-formed arguments. `threads`: number of CPU threads of the stream, 0 on other devices.
  CallNumbers read(const void* args, int threads) const;
  Key key(const CallNumbers& numbers, std::string_view kernel_hash) const;
  /// The inverse of key(); empty if the key is not one of this operator.
  std::optional<CallNumbers> numbers(const Key& key) const;
  /// How far two calls are apart: the largest factor between sizes or integers of theirs, as a power of two;
  /// infinite if they differ in anything else.
  double distance(const CallNumbers& a, const CallNumbers& b) const;

 private:
  struct Place {
    std::ptrdiff_t offset;  // offset of the tensor in the argument struct
    int axis;  // n-th from the end; 0: product of the dimensions of "..."; -n: n-th from the front
    int named;
  };
  struct Size {
    std::string name;
    std::vector<Place> places;
  };
  struct Located {
    const FieldInfo* field;
    std::ptrdiff_t offset;
  };
  std::ptrdiff_t offset_of(const FieldInfo& field) const;  ///< offset in the argument struct
  void add_sizes(const FieldInfo& field);
  std::int64_t size_of_call(const Size& size, const void* args) const;

  const OpBase* op_;
  std::vector<Size> sizes_;
  std::vector<std::ptrdiff_t> typed_;
  std::vector<Located> optional_, options_;
};

}  // namespace kolmo::tune
