#pragma once
// Shared by the elementwise skeletons of the CPU (skeleton/elementwise_cpu.hpp) and of kernels
// (skeleton/elementwise.cuh). An operator provides a functor over the type it computes in, constructed from
// its arguments:
//   template <class C> struct Sum {
//     explicit Sum(const BinaryArgs&);
//     KOLMO_HD C operator()(C x, C y) const;
//   };
// and the fields it reads and writes: Elements<A, Sum, FloatTypes, &A::z, &A::x, &A::y>.
#include "kolmo/base/pack.hpp"
#include "kolmo/skeleton/walk.hpp"

namespace kolmo {

/// `Out` is the field written, `In` are those read, which broadcast to it. `Pairs` lists the supported
/// combinations of input and output element types.
template <class From, class To = From>
struct Types {
  using In = From;
  using Out = To;
};
template <class... T>
struct TypeList {};
using FloatTypes = TypeList<Types<double>, Types<float>, Types<Half>, Types<BFloat16>>;
using RealTypes = TypeList<Types<double>, Types<float>>;

template <class Args, template <class> class Functor, class Pairs, auto Out, auto... In>
struct Elements {
  using A = Args;
  static constexpr int inputs = int(sizeof...(In));

  static const Tensor& out(const A& a) { return a.*Out; }
  static Walk<inputs> walk(const A& a) {
    const Tensor* const in[] = {&(a.*In)...};
    return walk_of<inputs>(a.*Out, in);
  }
  template <class T>
  struct Pointers {
    const T* in[sizeof...(In)];
  };
  template <class T>
  static Pointers<T> pointers(const A& a) {
    return {{(a.*In).template as<T>()...}};
  }
  /// Calls f.operator()<TIn, TOut>() with the element types of the arguments.
  template <class F>
  static void visit_types(const A& a, F&& f) {
    visit_list(a, f, Pairs());
  }
  template <class C>
  using Function = Functor<C>;

 private:
  template <class F, class... P>
  static void visit_list(const A& a, F& f, TypeList<P...>) {
    const DType first = first_dtype(a), out = (a.*Out).dtype;
    const bool hit = ((dtype_of<typename P::In> == first && dtype_of<typename P::Out> == out
                           ? (f.template operator()<typename P::In, typename P::Out>(), true)
                           : false) ||
                      ...);
    if (!hit) no_code_for(first);
  }
  static DType first_dtype(const A& a) {
    const Tensor* const in[] = {&(a.*In)...};
    return in[0]->dtype;
  }
};

/// Applies a functor to one element of each of N inputs.
template <class C, class F, class T, int N, std::size_t... I>
KOLMO_HD auto apply_at(const F& f, const T* const (&in)[N], const std::int64_t (&at)[N],
                       std::index_sequence<I...>) {
  return f(C(in[I][at[I]])...);
}

}  // namespace kolmo
