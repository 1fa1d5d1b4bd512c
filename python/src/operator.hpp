#pragma once
#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>
#include <vector>

#include "kolmo/op/registry.hpp"
#include "python/src/array_view.hpp"
#include "python/src/streams.hpp"

namespace kolmo::python {

/// An operator or alias as a callable of Python:
///
///   op(inputs..., out=None, *, options..., optional outputs..., dtype=None, like=None, device=None, stream=None)
///
/// Inputs, and arrays that are changed in place, come in the order of the operator's fields. `out` is the required output,
/// or a tuple of them; an optional output is computed if its name is given an array or True. Outputs that are not given
/// are allocated in the library of the first array, or of `like`.
class Operator {
 public:
  explicit Operator(const OpEntry& entry);

  nb::object call(const nb::args& positional, const nb::kwargs& keywords) const;
  const OpEntry& entry() const { return entry_; }

 private:
  struct Parameter {
    const FieldInfo* field;
    nb::object name;    // an interned string
    std::string where;  // "softmax: x", for messages
  };
  struct Call;

  const Parameter* find(nb::handle name) const;
  [[noreturn]] void no_such(nb::handle name) const;
  void set_option(const Parameter& p, void* args, nb::handle value) const;

  OpEntry entry_;
  // inputs_ also holds those that are changed in place.
  std::vector<Parameter> inputs_, outputs_, options_;
  std::size_t required_outputs_ = 0;
  std::vector<std::byte> defaults_;
};

void add_operators(nb::module_& module);

}  // namespace kolmo::python
