// Compiled once per instruction set; the best supported one is chosen at run time.
#include "kolmo/ops/recurrent/rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/ops/recurrent/rows.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include "kolmo/skeleton/activation_vectors.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace {  // anonymous, since other operators have functions of the same names

template <class T>
void lstm_rows(const LstmUnit<T>& f, std::int64_t first, std::int64_t end) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = first; row < end; ++row)
    each_vector(d, f.n, [&](std::int64_t i, auto count) HWY_ATTR {
      const std::int64_t at = row * f.n + i;
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

/// Reads a row of an input in vectors.
template <class D, class Row, class T = hn::TFromD<D>>
struct InputVectors {
  static constexpr bool of_member = std::is_same_v<Row, typename MemberInput<T>::Row>;
  D d;
  Row row;

  template <class Count>
  HWY_INLINE hn::Vec<D> input(std::int64_t i, Count count) const {
    const auto u = load(d, row.u + i, count);
    if constexpr (of_member)
      return hn::MulAdd(load(d, row.slope + i, count), hn::Set(d, row.loss), u);
    else
      return u;
  }
  template <class Count>
  HWY_INLINE hn::Vec<D> of_state(std::int64_t i, const T* v, Count count) const {
    const auto part = load(d, v, count);
    if constexpr (of_member)
      if (row.bias) return hn::Add(part, load(d, row.bias + i, count));
    return part;
  }
  template <class Count>
  HWY_INLINE hn::Vec<D> gate(std::int64_t i, const T* v, Count count) const {
    return logistic(d, hn::Add(input(i, count), of_state(i, v, count)));
  }
};

template <class T, template <class> class Input>
void reset_rows(const ResetRows<T, Input>& f, std::int64_t first, std::int64_t end) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = first; row < end; ++row) {
    const InputVectors<decltype(d), typename Input<T>::Row> u{d, f.in.at(row, 0, f.n)};
    const T *const v = f.v + row * 2 * f.n, *const state = f.state + row * f.n;
    each_vector(d, f.n, [&](std::int64_t i, auto count) HWY_ATTR {
      store(d, hn::Mul(u.gate(i, v + i, count), load(d, state + i, count)), f.reset + row * f.n + i, count);
    });
  }
}

template <class T, template <class> class Input>
void unit_rows(const UnitRows<T, Input>& f, std::int64_t first, std::int64_t end) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = first; row < end; ++row) {
    const InputVectors<decltype(d), typename Input<T>::Row> u{d, f.in.at(row, 0, f.n)};
    const T* const v = f.v + row * (f.candidate ? 2 : 3) * f.n;
    const T* const state = f.state + row * f.n;
    T *const to = f.next + row * f.n, *const copy = f.copy ? f.copy + row * f.stride : nullptr;
    each_vector(d, f.n, [&](std::int64_t i, auto count) HWY_ATTR {
      const std::int64_t of_z = f.n + i, of_n = 2 * f.n + i;
      const auto z = u.gate(of_z, v + of_z, count);
      const auto part = f.candidate ? u.of_state(of_n, f.candidate + row * f.n + i, count)
                                    : hn::Mul(u.gate(i, v + i, count), u.of_state(of_n, v + of_n, count));
      const auto candidate = hn::Tanh(d, hn::Add(u.input(of_n, count), part));
      const auto old = load(d, state + i, count);
      const auto next = hn::MulAdd(z, hn::Sub(old, candidate), candidate);
      store(d, next, to + i, count);
      if (copy) store(d, next, copy + i, count);
    });
  }
}

template <class T, template <class> class Input>
constexpr GruRows<T, Input> gru = {reset_rows<T, Input>, unit_rows<T, Input>};
static CellRows<double> rows_f64() {
  return {lstm_rows<double>, gru<double, GateInput>, gru<double, MemberInput>};
}
static CellRows<float> rows_f32() {
  return {lstm_rows<float>, gru<float, GateInput>, gru<float, MemberInput>};
}

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
