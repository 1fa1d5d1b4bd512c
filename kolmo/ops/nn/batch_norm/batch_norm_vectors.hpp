#pragma once
#include <cstdint>

#include "kolmo/base/activation.hpp"

namespace kolmo {

/// activation((x - mean) factor + shift), with one of each for all elements, or one for every element.
template <class C>
struct ChannelMaps {
  const C *mean, *factor, *shift;
  bool each;
  Activation activation;
};

/// CPU functions in vectors, compiled per instruction set and chosen at run time. y may be x.
template <class C>
using ApplyMaps = void (*)(const ChannelMaps<C>& f, const C* x, std::int64_t n, C* y);
template <class C>
ApplyMaps<C> apply_maps();

}  // namespace kolmo
