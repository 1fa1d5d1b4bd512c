#pragma once
#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/skeleton/elementwise.hpp"

namespace kolmo {

template <class C>
struct Sum {
  explicit Sum(const BinaryArgs&) {}
  KOLMO_HD C operator()(C x, C y) const { return x + y; }
};
template <class C>
struct Product {
  explicit Product(const BinaryArgs&) {}
  KOLMO_HD C operator()(C x, C y) const { return x * y; }
};

template <template <class> class F>
using Binary = Elements<BinaryArgs, F, FloatTypes, &BinaryArgs::z, &BinaryArgs::x, &BinaryArgs::y>;

}  // namespace kolmo
