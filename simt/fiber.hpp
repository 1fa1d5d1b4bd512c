#pragma once
// A separate stack, and the switch from one to another.

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

namespace simt {

class Fiber {
 public:
  /// Represents the stack of the calling OS thread.
  Fiber();
  /// Makes a new stack on which `life(argument)`, which must not return, starts at the first switch. `number`
  /// offsets the stacks, so that equal depths fall into different cache sets.
  Fiber(std::size_t stack, unsigned number, void (*life)(void*), void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;

  /// Switches from this fiber, which must be the running one, to another; returns when another one switches
  /// back.
  void switch_to(Fiber& to);

 private:
  using Transfer = boost::context::detail::transfer_t;
  static void start(Transfer);
  void arrive(Transfer);

  boost::context::detail::fcontext_t context_ = nullptr;
  Fiber* next_ = nullptr;
  void (*life_)(void*) = nullptr;
  void* argument_ = nullptr;
  char* mapped_ = nullptr;
  std::size_t mapped_size_ = 0;
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
  void* fake_stack_ = nullptr;  // belongs to AddressSanitizer
  void* thread_;                // belongs to ThreadSanitizer
};

}  // namespace simt
