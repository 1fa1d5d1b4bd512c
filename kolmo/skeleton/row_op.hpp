#pragma once
// Operators that read the rows of x (a.x: f64, f32, f16 or bf16) and write those of y (a.y): softmax, norms.
// What an operator needs to know of n elements of a row is a `Part`. Parts of neighbouring elements are joined, in
// order, to the Part of the whole row. Part{} is that of no elements:
//   KOLMO_HD Part join(const Part& a, const Part& b);
// For the GPU an operator provides
//   template <class T> struct Softmax {
//     using C = Compute<T>;
//     using Part = Exponentials<C>;
//     explicit Softmax(const SoftmaxArgs&);
//     bool packed() const;                                  // its own tensors start at multiples of 16 bytes
//     static constexpr bool reads_columns();                // if it returns true, results() reads values per column
//     template <class Values> __device__ Part part(Values& x) const;  // uses x.count(), x.largest(), x.sum(f)
//     __device__ Whole whole(const Part&) const;            // what every element needs to know of its row
//     template <int W, bool Held>                           // W results, from element `at` of the row
//     __device__ Pack<C, W> results(const C* x, std::int64_t at, const Whole&) const;
//     __device__ void keep(std::int64_t row, const Whole&) const;     // writes further outputs, once for each row
//   };
// If Held, the elements passed to results() are as part() left them, else as in memory. For the CPU it provides
//   template <class T> struct SoftmaxVectors {
//     using Part = Exponentials<double>;
//     static constexpr bool held;                           // whether write() needs what part() left in `e`
//     explicit SoftmaxVectors(const SoftmaxArgs&);
//     Part part(const C* x, std::int64_t n, C* e) const;    // e may be x
//     void write(const C* e, std::int64_t n, C* y, RowPlace, const Part& part, const Part& whole) const;
//   };
#include "kolmo/base/tensor.hpp"

namespace kolmo {

template <class T>
struct RowTensors {
  const T* x;
  T* y;
  std::int64_t rows, k;

  template <class A>
  explicit RowTensors(const A& a)
      : x(a.x.template as<T>()), y(a.y.template as<T>()), rows(a.x.size() / a.x.dim(-1)), k(a.x.dim(-1)) {}
};

/// Element `at` of row `row`.
struct RowPlace {
  std::int64_t row, at;
};

template <class F>
void visit_row_types(DType t, F&& f) {
  visit<double, float, Half, BFloat16>(t, std::forward<F>(f));
}

}  // namespace kolmo
