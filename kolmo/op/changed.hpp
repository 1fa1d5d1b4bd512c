#pragma once
#include <vector>

#include "kolmo/op/define.hpp"

namespace kolmo {

/// Copies of the tensors that an operator changes in place, for measuring it: calls in a row each begin with the
/// values that the tensors had when this object was made, and the tensors themselves stay as they are.
class ChangedTensors {
 public:
  /// `args` are redirected to the copies and must live as long as this object.
  ChangedTensors(const OpBase& op, void* args, Stream& stream);

  bool any() const { return !changed_.empty(); }
  /// Makes room for calls in a row; returns how many there may be, from 1 to `wanted`, as copies take 256 MB at
  /// most. Without such tensors these are all.
  int reserve(int wanted);
  /// Queues the original values for that many calls, which reserve() allowed.
  void restore(int calls);
  /// The next call works on copy i.
  void use(int i);

 private:
  struct Changed {
    Tensor* tensor;
    Buffer original;
    std::vector<Buffer> copies;
  };
  Stream stream_;
  std::vector<Changed> changed_;
  std::size_t bytes_ = 0;  // of one copy of each
};

}  // namespace kolmo
