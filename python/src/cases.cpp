#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

#include "kolmo/check/compare.hpp"
#include "kolmo/check/oracle.hpp"
#include "kolmo/check/problem.hpp"
#include "python/src/allocation.hpp"
#include "python/src/array_view.hpp"
#include "python/src/module.hpp"

namespace kolmo::python {
namespace {

/// Copies elements, which may have any strides, to row-major order.
void copy_elements(const Tensor& to, const Tensor& from) {
  const std::size_t bytes = size_of(from.dtype);
  for (std::int64_t i = 0, n = from.size(); i < n; ++i) {
    std::int64_t rest = i, at = 0;
    for (int d = from.rank - 1; d >= 0; --d)
      at += rest % from.dim(d) * from.stride[std::size_t(d)], rest /= from.dim(d);
    std::memcpy(static_cast<std::byte*>(to.data) + std::size_t(i) * bytes,
                static_cast<std::byte*>(from.data) + at * std::int64_t(bytes), bytes);
  }
}

/// A case of an operator with its inputs, and the judge of its results.
class Case {
 public:
  Case(const std::string& name, std::size_t index, std::uint64_t seed)
      : entry_(find_op(name)),
        problem_(make(entry_, index, seed)),
        truth_(check::oracle_of(*entry_.op), problem_) {}

  /// Returns inputs and options by name, and True for each optional output of the case. Elements of a dtype
  /// that NumPy lacks (bfloat16) are a kolmo.Array.
  nb::dict arguments() const {
    nb::dict all;
    for (const FieldInfo& f : entry_.op->fields()) {
      const std::string name(f.name);
      if (!f.is_tensor()) {
        if (!entry_.sets(f)) all[name.c_str()] = value_of(f);
      } else if (const Tensor& t = f.tensor(problem_.args()); t.given() && f.is_input()) {
        auto copy = std::make_shared<OwnedArray>(t.dtype, t.shape(), stream_for({}, nb::none(), nullptr));
        copy_elements(copy->array.tensor, t);
        all[name.c_str()] =
            t.dtype == DType::bf16 ? nb::cast(copy) : numpy_.attr("from_dlpack")(nb::cast(copy));
      } else if (t.given() && f.optional) {
        all[name.c_str()] = true;
      }
    }
    return all;
  }

  /// Says why these outputs are wrong; "" if they are right. Outputs may be trimmed to their count.
  std::string failure(const nb::dict& outputs) const {
    check::HostTensors got(entry_.op->fields().size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const FieldInfo& f = entry_.op->fields()[i];
      if (!f.is_output() || !problem_.field(i).given()) continue;
      const Tensor& expected = problem_.field(i);
      const ArrayView view(outputs[std::string(f.name).c_str()], std::string(f.name));
      const Tensor& t = view.tensor;
      const bool counted = !f.counter.empty() && t.rank == expected.rank && t.dim(0) <= expected.dim(0);
      if (t.dtype != expected.dtype || (!counted && !std::ranges::equal(t.shape(), expected.shape())) ||
          !t.contiguous())
        return std::string(f.name) + " is " + shape_string(t) + ", expected " + shape_string(expected);
      got[i] = Array(expected.dtype, expected.shape());
      if (t.bytes()) std::memcpy(got[i].tensor.data, t.data, t.bytes());
    }
    return truth_.compare(problem_, got).message;
  }

  std::string dtype() const { return std::string(to_string(problem_.info().dtype)); }
  std::string name() const { return std::string(problem_.info().name); }

 private:
  static check::Problem make(const OpEntry& entry, std::size_t index, std::uint64_t seed) {
    const auto cases = entry.op->cases();
    std::size_t seen = 0;
    for (std::size_t i = 0; i < cases.size(); ++i)
      if (!cases[i].benchmark_only && entry.has(cases[i]) && seen++ == index)
        return check::Problem(*entry.op, cases[i], i, seed);
    throw nb::index_error(("there are " + std::to_string(seen) + " cases").c_str());
  }

  nb::object value_of(const FieldInfo& f) const {
    const Value v = f.value(problem_.args());
    switch (v.kind) {
      case ValueKind::none:
        return nb::none();
      case ValueKind::flag:
        return nb::bool_(v.integer != 0);
      case ValueKind::choice:
        return nb::str(std::string(f.choices[std::size_t(v.integer)]).c_str());
      case ValueKind::natural:
        return nb::int_(v.natural);
      case ValueKind::real:
        return nb::float_(v.real);
      case ValueKind::list: {
        nb::list items;
        for (const std::int64_t i : v.list) items.append(i);
        return items;
      }
      default:
        return nb::int_(v.integer);
    }
  }

  OpEntry entry_;
  check::Problem problem_;
  check::Truth truth_;
  nb::module_ numpy_ = nb::module_::import_("numpy");
};

}  // namespace

void add_cases(nb::module_& module) {
  nb::class_<Case>(module, "Case",
                   "A case of an operator: arguments, and a check of results against the operator's oracle.")
      .def(nb::init<const std::string&, std::size_t, std::uint64_t>(), nb::arg("operator"),
           nb::arg("index") = 0, nb::arg("seed") = 1)
      .def("arguments", &Case::arguments)
      .def("failure", &Case::failure, nb::arg("outputs"))
      .def_prop_ro("dtype", &Case::dtype)
      .def_prop_ro("name", &Case::name);
}

}  // namespace kolmo::python
