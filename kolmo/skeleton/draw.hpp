#pragma once
// Operators that write a sequence of random numbers (base/random.hpp): element e depends only on seed, e and
// dtype, with the same bits on every device. An operator has `Out values` and options n, seed and offset. It
// provides the map from random words to values, constructed from its arguments:
//   template <class T> struct Uniform : UniformValue<T> { explicit Uniform(const RandomUniformArgs&); };
#include "kolmo/base/random.hpp"
#include "kolmo/base/tensor.hpp"

namespace kolmo {

template <class Args, template <class> class Value, class... T>
struct Draws {
  using A = Args;
  /// Calls f with the sequence for the element type of the arguments.
  template <class F>
  static void visit_sequence(const A& a, F&& f) {
    visit<T...>(a.values.dtype, [&]<class U> {
      f(RandomSequence<U, Value<U>>{Philox(a.seed), Value<U>(a), a.offset, a.n, a.values.template as<U>()});
    });
  }
};

}  // namespace kolmo
