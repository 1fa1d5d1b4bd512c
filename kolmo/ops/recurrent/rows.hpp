#pragma once
#include <type_traits>

#include "kolmo/ops/recurrent/units.hpp"
#include "kolmo/skeleton/item_steps_cpu.hpp"

namespace kolmo {

/// Functions that compute the units of rows [first, end) in CPU vectors, for float and double.
template <class T, template <class> class Input>
struct GruRows {
  void (*reset)(const ResetRows<T, Input>&, std::int64_t first, std::int64_t end);
  void (*unit)(const UnitRows<T, Input>&, std::int64_t first, std::int64_t end);
};
template <class T>
struct CellRows {
  void (*lstm)(const LstmUnit<T>&, std::int64_t first, std::int64_t end);
  GruRows<T, GateInput> gru;
  GruRows<T, MemberInput> members;
  const auto& of(const GateInput<T>&) const { return gru; }
  const auto& of(const MemberInput<T>&) const { return members; }
};
template <class T>
CellRows<T> cell_rows();
template <>
CellRows<double> cell_rows();
template <>
CellRows<float> cell_rows();

/// Runs steps on the threads of a stream. Those on float and double are computed in vectors.
struct CellSteps : cpu::ItemSteps {
  using ItemSteps::operator();
  template <class T>
  requires std::is_floating_point_v<T>
  void operator()(const LstmUnit<T>& f) const { rows(f, cell_rows<T>().lstm); }
  template <class T, template <class> class Input>
  requires std::is_floating_point_v<T>
  void operator()(const ResetRows<T, Input>& f) const { rows(f, cell_rows<T>().of(f.in).reset); }
  template <class T, template <class> class Input>
  requires std::is_floating_point_v<T>
  void operator()(const UnitRows<T, Input>& f) const { rows(f, cell_rows<T>().of(f.in).unit); }
};

}  // namespace kolmo
