#pragma once
#include "kolmo/skeleton/steps_cpu.hpp"

namespace kolmo::cpu {

/// Calls f(i) for all items of a functor as of skeleton/each_item.hpp: a step of an operator that has several.
struct ItemSteps {
  Stream& stream;
  template <class F>
  void operator()(const F& f) const {
    do_step(f, stream, 1 << 10);
  }
};

}  // namespace kolmo::cpu
