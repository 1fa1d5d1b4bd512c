#pragma once
#include <vector>

#include "kolmo/op/define.hpp"

namespace kolmo {

/// Makes copies of the tensors that an operator changes in place, so that it can be measured: calls in a row
/// each begin with the values that the tensors had when this object was made, and the tensors themselves stay
/// as they are.
class ChangedTensors {
 public:
  /// Redirects `args` to the copies. `args` must live as long as this object.
  ChangedTensors(const OpBase& op, void* args, Stream& stream);

  bool any() const { return !changed_.empty(); }
  /// Makes room for calls in a row, and returns how many there may be, from 1 to `wanted`, as copies take 256
  /// MB at most. Without tensors that are changed the answer is `wanted`.
  int reserve(int wanted);
  /// Queues the original values for that many calls, which reserve() allowed.
  void restore(int calls);
  /// Makes the next call work on copy i.
  void use(int i);

 private:
  struct Changed {
    Tensor* tensor;
    Buffer original;
    std::vector<Buffer> copies;
  };
  Stream stream_;
  std::vector<Changed> changed_;
  std::size_t bytes_ = 0;  // bytes of one copy of each tensor
};

}  // namespace kolmo
