#include "python/src/analysis_options.hpp"

#include <nanobind/stl/string.h>

#include "kolmo/flow/request/settle.hpp"
#include "kolmo/io/nearest.hpp"
#include "python/src/values.hpp"

namespace kolmo::python {
namespace {

[[noreturn]] void wants(const std::string& what, nb::handle value) {
  throw nb::type_error(("takes " + what + ", not " + nb::type_name(value.type()).c_str()).c_str());
}

bool is_integer(nb::handle value) { return !PyBool_Check(value.ptr()) && PyIndex_Check(value.ptr()); }

std::int64_t integer(nb::handle value) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index) throw nb::python_error();
  const long long i = PyLong_AsLongLong(index.ptr());
  if (PyErr_Occurred()) throw nb::python_error();
  return i;
}

/// A column by its number, or by its name; labels of any type are names.
void add_column(Columns& columns, nb::handle column) {
  if (is_integer(column))
    columns.add(integer(column));
  else
    columns.add(std::string_view(nb::str(column).c_str()));
}

bool is_list(nb::handle value) { return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()); }

/// A text as on the command line, one column, or a list of them.
Columns columns_of(nb::handle value) {
  if (PyUnicode_Check(value.ptr())) return {nb::cast<std::string>(value)};
  Columns columns;
  if (is_integer(value)) {
    columns.add(integer(value));
  } else {
    if (!nb::hasattr(value, "__iter__")) wants("names or numbers of columns", value);
    for (const nb::handle column : nb::iter(value)) add_column(columns, column);
  }
  return columns;
}

void add_lags(Columns& columns, nb::handle lags) {
  if (is_integer(lags)) return void(columns.lags(integer(lags), integer(lags)));
  if (!is_list(lags) || nb::len(lags) != 2 || !is_integer(lags[0]) || !is_integer(lags[1]))
    wants("a lag, or the first and last of several", lags);
  columns.lags(integer(lags[0]), integer(lags[1]));
}

/// {"a": 1, "b": (1, 3)}, ["a", ("b", 2)], a column, or a text as on the command line.
Columns lagged_of(nb::handle value) {
  Columns columns;
  if (PyDict_Check(value.ptr())) {
    for (const auto& [column, lags] : nb::borrow<nb::dict>(value))
      add_column(columns, column), add_lags(columns, lags);
    return columns;
  }
  if (PyUnicode_Check(value.ptr()) || is_integer(value)) return columns_of(value);
  if (!nb::hasattr(value, "__iter__")) wants("names of columns with lags", value);
  for (const nb::handle item : nb::iter(value)) {
    const bool pair = PyTuple_Check(item.ptr()) && nb::len(item) == 2;
    add_column(columns, pair ? nb::object(item[0]) : nb::borrow(item));
    if (pair) add_lags(columns, item[1]);
  }
  return columns;
}

void set(const OptionInfo& o, void* request, nb::handle value) {
  switch (o.option_kind) {
    case OptionKind::columns:
      o.words(request) = columns_of(value).text;
      return;
    case OptionKind::lagged:
      o.words(request) = lagged_of(value).text;
      return;
    case OptionKind::text:
      if (!PyUnicode_Check(value.ptr())) wants("a text", value);
      o.words(request) = nb::cast<std::string>(value);
      return;
    default:
      if ((o.kind == FieldKind::choice || !o.chosen.empty()) && PyUnicode_Check(value.ptr()))
        o.set_text(request, nb::cast<std::string>(value));
      else
        o.set_value(request, value_of(o, value));
  }
}

const OptionInfo& find(const AnalysisInfo& analysis, const std::string& name) {
  for (const OptionInfo& o : analysis.options)
    if (name == o.name || name == o.alias) return o;
  std::vector<std::string> known;
  for (const OptionInfo& o : analysis.options) known.emplace_back(o.name);
  const std::string near = nearest(name, known);
  throw nb::type_error((std::string(analysis.function) + "() got an unexpected keyword argument '" + name +
                        "'" + (near.empty() ? "" : "; did you mean '" + near + "'?"))
                           .c_str());
}

}  // namespace

void set_option(const OptionInfo& o, void* request, const std::string& name, nb::handle value) {
  try {
    set(o, request, value);
  } catch (const InvalidArgument& e) {
    std::string what = e.what();
    if (what.starts_with(std::string(o.name) + " ")) what.erase(0, o.name.size() + 1);
    throw InvalidArgument(name + ": " + what, e.where());
  } catch (const nb::builtin_exception& e) {
    fail<InvalidArgument>(name + ": " + e.what());
  }
}

Request::Request(const AnalysisInfo& a, const nb::dict& options) : analysis(a), values(a.make()) {
  std::vector<const OptionInfo*> given;
  for (const auto& [key, value] : options) {
    if (value.is_none()) continue;
    const std::string name = nb::cast<std::string>(key);
    const OptionInfo& o = find(a, name);
    set_option(o, values.get(), name, value);
    given.push_back(&o);
  }
  settled = &a.settle(values.get());
  if (a.run)  // a network's parameters all have values, as with scikit-learn
    for (const OptionInfo* o : given) check_use(*o, settled->estimator);
}

}  // namespace kolmo::python
