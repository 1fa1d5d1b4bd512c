#pragma once
#include <cstdint>

#include "kolmo/base/activation.hpp"

namespace kolmo {

/// The map activation((x - mean) factor + shift). Its three numbers are the same for all elements, or there
/// is one of each for every element.
template <class C>
struct ChannelMaps {
  const C *mean, *factor, *shift;
  bool each;
  Activation activation;
};

/// Functions in CPU vectors. They are compiled once per instruction set, and chosen at run time. y may be x.
template <class C>
using ApplyMaps = void (*)(const ChannelMaps<C>& f, const C* x, std::int64_t n, C* y);
template <class C>
ApplyMaps<C> apply_maps();

}  // namespace kolmo
