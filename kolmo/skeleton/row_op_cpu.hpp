#pragma once
#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cpu/convert.hpp"
#include "kolmo/runtime/cpu/row_parts.hpp"
#include "kolmo/runtime/stream.hpp"
#include "kolmo/skeleton/row_op.hpp"

namespace kolmo::cpu {

namespace detail {

template <class T, class Op>
void run_rows(const Op& op, const RowTensors<T>& t, typename Op::Part* parts, int threads) {
  using C = Compute<T>;
  using Part = typename Op::Part;
  constexpr bool wide = std::is_same_v<T, C>;
  for_row_parts<Part>(
      threads, t.rows, t.k, parts,
      [&](std::int64_t row, std::int64_t begin, std::int64_t n) {
        const T* const x = t.x + row * t.k + begin;
        if constexpr (wide) {
          return op.part(x, n, t.y + row * t.k + begin);
        } else {
          C copy[row_part];
          widen(x, n, copy);
          return op.part(copy, n, copy);
        }
      },
      [](const Part& a, const Part& b) { return join(a, b); },
      [&](std::int64_t row, std::int64_t begin, std::int64_t n, const Part& part, const Part& whole) {
        const T* const x = t.x + row * t.k + begin;
        T* const y = t.y + row * t.k + begin;
        if constexpr (wide) {
          op.write(Op::held ? y : x, n, y, RowPlace{row, begin}, part, whole);
        } else {
          C copy[row_part];
          widen(x, n, copy);
          // The 16-bit row did not keep the changes of this part, so it is computed again.
          if (Op::held) op.part(copy, n, copy);
          op.write(copy, n, copy, RowPlace{row, begin}, part, whole);
          narrow(copy, n, y);
        }
      });
}

template <class Part, class A>
Part* row_op_scratch(Arena& arena, const A& a) {
  return take_row_parts<Part>(arena, a.x.size() / a.x.dim(-1), a.x.dim(-1));
}

}  // namespace detail

/// Applies Op to every row, on all threads of the stream; `Part` is the same for all element types.
template <class A, template <class> class Op>
constexpr Impl<A> row_op() {
  using Part = typename Op<double>::Part;
  return ImplCode<A>{
      .launch =
          [](const A& a, Arena scratch, Stream& s, int) {
            visit_row_types(a.x.dtype, [&]<class T> {
              detail::run_rows(Op<T>(a), RowTensors<T>(a), detail::row_op_scratch<Part>(scratch, a),
                               s.threads());
            });
          },
      .lay = [](Arena& arena, const A& a, const Site&) { detail::row_op_scratch<Part>(arena, a); }};
}

}  // namespace kolmo::cpu
