#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kolmo/base/tensor.hpp"

namespace kolmo::bench {

/// A block returned by an allocator; `origin` is what the allocator needs to free it.
struct Piece {
  void* data = nullptr;
  void* origin = nullptr;
};

/// An allocator as one thread uses it.
class Session {
 public:
  virtual ~Session() = default;
  virtual Piece get(std::size_t bytes) = 0;
  virtual void put(Piece piece, std::size_t bytes) = 0;
};

struct Arm {
  std::string name;
  std::function<std::unique_ptr<Session>()> open;
};

/// cudaMalloc, and cudaMallocAsync with release thresholds of 0 and infinity; none without CUDA.
std::vector<Arm> cuda_arms(Device device);

}  // namespace kolmo::bench
