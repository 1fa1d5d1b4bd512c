#pragma once
#include <functional>

#include "kolmo/tune/store.hpp"

namespace kolmo::tune {

/// While an object of this class exists, no other process with the same store has the turn to measure. The
/// constructor waits for the turn, and calls `waiting` once if it must wait. Without a writable store it does
/// nothing.
class Turn {
 public:
  explicit Turn(const Store& store, const std::function<void()>& waiting = {});
  ~Turn();
  Turn(const Turn&) = delete;

 private:
  int file_;
};

}  // namespace kolmo::tune
