// Compiled once per instruction set; the best supported one is chosen at run time.
#include "kolmo/ops/nn/recurrent_cells/cell_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/ops/nn/recurrent_cells/cell_rows.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include "kolmo/skeleton/activation_vectors.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace {  // other operators have functions of the same names

/// each(i, at, count): unit i of a row, element `at` of the states.
template <class F, class D, class Each>
HWY_INLINE void each_unit(const F& f, D d, std::int64_t first, std::int64_t end, const Each& each) {
  for (std::int64_t row = first; row < end; ++row)
    each_vector(d, f.n, [&](std::int64_t i, auto count) HWY_ATTR { each(row, i, row * f.n + i, count); });
}

template <class T>
void lstm(const LstmUnit<T>& f, std::int64_t first, std::int64_t end) {
  const hn::ScalableTag<T> d;
  each_unit(f, d, first, end, [&](std::int64_t row, std::int64_t i, std::int64_t at, auto count) HWY_ATTR {
    const auto sum = [&](std::int64_t gate) HWY_ATTR {
      const std::int64_t of_gate = (row * 4 + gate) * f.n + i;
      return hn::Add(load(d, f.u + of_gate, count), load(d, f.v + of_gate, count));
    };
    const auto input = hn::Mul(logistic(d, sum(0)), hn::Tanh(d, sum(2)));
    const auto next = hn::MulAdd(logistic(d, sum(1)), load(d, f.c + at, count), input);
    store(d, next, f.c_next + at, count);
    store(d, hn::Mul(logistic(d, sum(3)), hn::Tanh(d, next)), f.h_next + at, count);
  });
}

template <class T>
void reset(const ResetState<T>& f, std::int64_t first, std::int64_t end) {
  const hn::ScalableTag<T> d;
  each_unit(f, d, first, end, [&](std::int64_t row, std::int64_t i, std::int64_t at, auto count) HWY_ATTR {
    const auto sum =
        hn::Add(load(d, f.u + row * 3 * f.n + i, count), load(d, f.v + row * 2 * f.n + i, count));
    store(d, hn::Mul(logistic(d, sum), load(d, f.h + at, count)), f.reset + at, count);
  });
}

template <class T>
void gru(const GruUnit<T>& f, std::int64_t first, std::int64_t end) {
  const hn::ScalableTag<T> d;
  each_unit(f, d, first, end, [&](std::int64_t row, std::int64_t i, std::int64_t at, auto count) HWY_ATTR {
    const T *const u = f.u + row * 3 * f.n + i, *const v = f.v + row * (f.after_reset ? 2 : 3) * f.n + i;
    const auto gate = [&](std::int64_t from) HWY_ATTR {
      return logistic(d, hn::Add(load(d, u + from, count), load(d, v + from, count)));
    };
    const auto part =
        f.after_reset ? load(d, f.after_reset + at, count) : hn::Mul(gate(0), load(d, v + 2 * f.n, count));
    const auto candidate = hn::Tanh(d, hn::Add(load(d, u + 2 * f.n, count), part));
    const auto difference = hn::Sub(load(d, f.h + at, count), candidate);
    store(d, hn::MulAdd(gate(f.n), difference, candidate), f.h_next + at, count);
  });
}

static CellRows<double> rows_f64() { return {lstm<double>, reset<double>, gru<double>}; }
static CellRows<float> rows_f32() { return {lstm<float>, reset<float>, gru<float>}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo {

HWY_EXPORT(rows_f64);
HWY_EXPORT(rows_f32);

template <>
CellRows<double> cell_rows() {
  return HWY_DYNAMIC_DISPATCH(rows_f64)();
}
template <>
CellRows<float> cell_rows() {
  return HWY_DYNAMIC_DISPATCH(rows_f32)();
}

}  // namespace kolmo
#endif
