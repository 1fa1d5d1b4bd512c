#include "python/src/operator.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>

#include "cli/output_dtype.hpp"
#include "kolmo/op/counted.hpp"
#include "kolmo/runtime/device.hpp"
#include "python/src/allocation.hpp"
#include "python/src/released.hpp"
#include "python/src/values.hpp"

namespace kolmo::python {

namespace {
constexpr std::size_t max_args_bytes = 4096, max_tensors = 12;
}

/// One call: its arguments, and the objects that keep their memory. It allocates no memory of its own.
struct Operator::Call {
  explicit Call(const Operator& o) : op(o) {
    std::memcpy(args.data(), o.defaults_.data(), o.defaults_.size());
  }

  void take(const nb::args& positional, const nb::kwargs& keywords);
  void take_keyword(nb::handle name, nb::handle value);
  void take_out(nb::handle out);
  void read_inputs();
  void allocate();
  void read_output(std::size_t i);
  void make_output(std::size_t i);
  void run();
  nb::object results();

  const Operator& op;
  alignas(std::max_align_t) std::array<std::byte, max_args_bytes> args;
  std::array<nb::object, max_tensors> inputs, outputs;  // outputs hold arrays, or True
  std::array<std::optional<ArrayView>, max_tensors> input_views, output_views;
  std::array<std::shared_ptr<OwnedArray>, max_tensors> owned;
  nb::object example, dtype, like = nb::none(), where = nb::none(), stream = nb::none();
  Device device;
  std::optional<CurrentDevice> current;  // PyTorch hands over only what is on the current device
  StreamPointer queue;
};

Operator::Operator(const OpEntry& entry) : entry_(entry), defaults_(entry.op->default_args(entry.name())) {
  const std::string name(entry.name());
  for (const FieldInfo& f : entry.op->fields()) {
    Parameter p{&f, nb::steal(PyUnicode_InternFromString(std::string(f.name).c_str())),
                name + ": " + std::string(f.name)};
    if (f.is_tensor() && f.is_input())
      inputs_.push_back(std::move(p));
    else if (f.is_tensor())
      outputs_.push_back(std::move(p));
    else if (!entry.sets(f))
      options_.push_back(std::move(p));
  }
  const auto optional = [](const Parameter& p) { return p.field->optional; };
  std::stable_partition(inputs_.begin(), inputs_.end(), std::not_fn(optional));
  require(defaults_.size() <= max_args_bytes && std::max(inputs_.size(), outputs_.size()) <= max_tensors,
          name + ": has more arguments than Python passes");
  required_outputs_ = std::size_t(std::count_if(outputs_.begin(), outputs_.end(), std::not_fn(optional)));
  std::stable_partition(outputs_.begin(), outputs_.end(), std::not_fn(optional));
}

const Operator::Parameter* Operator::find(nb::handle name) const {
  for (const auto* list : {&inputs_, &options_, &outputs_})
    for (const Parameter& p : *list)
      if (p.name.is(name)) return &p;
  for (const auto* list : {&inputs_, &options_, &outputs_})
    for (const Parameter& p : *list)
      if (PyUnicode_Compare(p.name.ptr(), name.ptr()) == 0) return &p;
  return nullptr;
}

void Operator::no_such(nb::handle name) const {
  const std::string own(entry_.name()), asked(nb::str(name).c_str());
  std::string known;
  for (const auto* list : {&inputs_, &options_, &outputs_})
    for (const Parameter& p : *list) known += (known.empty() ? "" : ", ") + std::string(p.field->name);
  throw nb::type_error((own + "() has no argument '" + asked + "'; it has " + known).c_str());
}

void Operator::set_option(const Parameter& p, void* args, nb::handle value) const {
  try {
    p.field->set(args, value_of(*p.field, value));
  } catch (const InvalidArgument& e) {
    const std::string what = e.what();
    const bool says = what.starts_with(std::string(p.field->name) + " ");
    throw InvalidArgument((says ? std::string(entry_.name()) + ": " : p.where + " ") + what, e.where());
  } catch (const nb::builtin_exception& e) {
    throw nb::type_error((p.where + " " + e.what()).c_str());
  }
}

void Operator::Call::take(const nb::args& positional, const nb::kwargs& keywords) {
  const std::size_t n = positional.size();
  if (n > op.inputs_.size() + 1)
    throw nb::type_error((std::string(op.entry_.name()) + "() takes " + std::to_string(op.inputs_.size()) +
                          " arrays and out; options are given by name")
                             .c_str());
  for (std::size_t i = 0; i < n; ++i) {
    if (i == op.inputs_.size())
      take_out(positional[i]);
    else
      inputs[i] = nb::borrow(positional[i]);
  }
  for (const auto& [name, value] : keywords) take_keyword(name, value);
}

void Operator::Call::take_keyword(nb::handle name, nb::handle value) {
  if (const Parameter* const p = op.find(name)) {
    if (!p->field->is_tensor()) return op.set_option(*p, args.data(), value);
    const bool input = p->field->is_input();
    const auto& list = input ? op.inputs_ : op.outputs_;
    nb::object& slot = (input ? inputs : outputs)[std::size_t(p - list.data())];
    if (slot) throw nb::type_error((p->where + " is given twice").c_str());
    if (!value.is_none() && !(!input && value.is(Py_False))) slot = nb::borrow(value);
    return;
  }
  const std::string_view n = nb::borrow<nb::str>(name).c_str();
  if (n == "out") return take_out(value);
  if (n == "stream")
    stream = nb::borrow(value);
  else if (n == "dtype")
    dtype = nb::borrow(value);
  else if (n == "like")
    like = nb::borrow(value);
  else if (n == "device")
    where = nb::borrow(value);
  else
    op.no_such(name);
}

void Operator::Call::take_out(nb::handle out) {
  if (out.is_none()) return;
  const std::string own(op.entry_.name());
  if (!op.required_outputs_)
    throw nb::type_error((own + "() changes its arrays in place and has no out").c_str());
  const auto put = [&](std::size_t i, nb::handle array) {
    if (outputs[i]) throw nb::type_error((op.outputs_[i].where + " is given twice").c_str());
    outputs[i] = nb::borrow(array);
  };
  if (op.required_outputs_ == 1 && !PyTuple_Check(out.ptr())) return put(0, out);
  const auto given = PyTuple_Check(out.ptr()) ? std::size_t(nb::len(out)) : 0;
  if (given != op.required_outputs_)
    throw nb::type_error(
        (own + "(): out takes a tuple of " + std::to_string(op.required_outputs_) + " arrays").c_str());
  for (std::size_t i = 0; i < given; ++i)
    if (!out[i].is_none()) put(i, out[i]);
}

void Operator::Call::read_inputs() {
  const Parameter* first = nullptr;
  for (std::size_t i = 0; i < op.inputs_.size(); ++i)
    if (inputs[i] && !inputs[i].is_none() && !first) first = &op.inputs_[i], example = inputs[i];
  if (!example && !like.is_none()) example = like;
  const std::string origin = first ? first->where : "like";
  if (example) device = device_of(example, origin);
  if (!where.is_none()) {
    std::string text;
    if (!nb::try_cast(where, text, false))
      throw nb::type_error("device: takes a name such as 'cpu' or 'cuda:1'");
    const Device wanted = parse_device(text);
    if (example && wanted != device && !(device == Device{} && wanted.kind == DeviceKind::simt))
      fail<InvalidArgument>(origin + " is on " + to_string(device) + ", not on " + to_string(wanted) +
                            "; nothing is copied between devices");
    device = wanted;
  }
  if (device.kind == DeviceKind::cuda) current.emplace(device);
  queue =
      stream_for(device, stream, device.kind == DeviceKind::cuda ? library_stream(example, device) : nullptr);
  for (std::size_t i = 0; i < op.inputs_.size(); ++i) {
    if (!inputs[i] || inputs[i].is_none()) continue;
    const Parameter& p = op.inputs_[i];
    const ArrayView& v = input_views[i].emplace(inputs[i], p.where, &queue->stream);
    if (!p.field->any_strides && !v.tensor.contiguous())
      fail<InvalidArgument>(p.where + " is not contiguous in row-major order; kolmo.contiguous(" +
                            std::string(p.field->name) + ") copies it");
    if (p.field->is_output() && v.read_only)
      fail<InvalidArgument>(p.where + " is read-only, and is changed in place");
    Tensor& t = p.field->tensor(args.data()) = v.tensor;
    if (t.device == Device{} && in_host_memory(device)) t.device = device;
  }
}

void Operator::Call::read_output(std::size_t i) {
  const Parameter& p = op.outputs_[i];
  const ArrayView& v = output_views[i].emplace(outputs[i], p.where, &queue->stream);
  if (v.read_only) fail<InvalidArgument>(p.where + " is read-only");
  Tensor& t = p.field->tensor(args.data()) = v.tensor;
  if (t.device == Device{} && in_host_memory(device)) t.device = device;
}

void Operator::Call::allocate() {
  bool missing = false;
  for (std::size_t i = 0; i < op.outputs_.size(); ++i) {
    const bool computed = i < op.required_outputs_ || outputs[i];
    missing |= computed && (!outputs[i] || outputs[i].is(Py_True));
  }
  std::optional<DType> wanted;
  if (dtype && !dtype.is_none()) wanted = dtype_of_object(dtype);
  if (missing) {
    cli::ask_for_dtype(op.entry_, args.data(),
                       wanted           ? *wanted
                       : like.is_none() ? DType::f64
                                        : ArrayView(like, "like").tensor.dtype);
    infer_outputs(*op.entry_.op, args.data(), device);
  }
  for (std::size_t i = 0; i < op.outputs_.size(); ++i) {
    Tensor& t = op.outputs_[i].field->tensor(args.data());
    if (i >= op.required_outputs_ && !outputs[i]) {
      t = Tensor{};
    } else if (outputs[i] && !outputs[i].is(Py_True)) {
      read_output(i);
    }
  }
  if (wanted) cli::require_dtype(op.entry_, args.data(), *wanted);
  for (std::size_t i = 0; i < op.outputs_.size(); ++i)
    if (op.outputs_[i].field->tensor(args.data()).given() && !output_views[i]) make_output(i);
}

void Operator::Call::make_output(std::size_t i) {
  Tensor& t = op.outputs_[i].field->tensor(args.data());
  std::string why;
  try {
    if ((outputs[i] = allocate_like(example, t.dtype, t.shape(), device))) return read_output(i);
    owned[i] = std::make_shared<OwnedArray>(t.dtype, t.shape(), queue);
    t.data = owned[i]->array.tensor.data;
    return;
  } catch (const nb::python_error& e) {  // NumPy: MemoryError, ValueError; PyTorch: RuntimeError
    if (!e.matches(PyExc_MemoryError) && !e.matches(PyExc_ValueError) && !e.matches(PyExc_RuntimeError))
      throw;
    why = nb::str(e.value()).c_str();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  } catch (const OutOfMemory& e) {
    why = e.what();
  }
  fail<OutOfMemory>(op.outputs_[i].where + " is " + shape_string(t) + ", and its " +
                    std::to_string(t.bytes()) + " bytes cannot be had" + (why.empty() ? "" : ": " + why));
}

void Operator::Call::run() {
  const Released released;
  const std::scoped_lock lock(queue->mutex);
  kolmo::run(op.entry_, args.data(), queue->stream);
}

nb::object Operator::Call::results() {
  std::size_t computed = 0, last = 0;
  for (std::size_t i = 0; i < op.outputs_.size(); ++i) {
    const FieldInfo& f = *op.outputs_[i].field;
    if (owned[i]) outputs[i] = hand_over(example, nb::cast(owned[i]));
    if (!outputs[i]) continue;
    ++computed, last = i;
    if (f.counter.empty() || !in_host_memory(device)) continue;
    std::int64_t lost = 0;
    const std::int64_t found = counted_part(*op.entry_.op, f, args.data(), lost).dim(0);
    outputs[i] = outputs[i][nb::slice(nb::int_(0), nb::int_(found), nb::none())];
    if (lost && PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "%s: %lld more found no room",
                                 op.outputs_[i].where.c_str(), static_cast<long long>(lost)) < 0)
      throw nb::python_error();
  }
  if (computed == 1) return outputs[last];
  nb::list all;
  if (computed) {
    for (std::size_t i = 0; i < op.outputs_.size(); ++i) all.append(outputs[i] ? outputs[i] : nb::none());
    return named_results(op.entry_, nb::tuple(all));
  }
  for (std::size_t i = 0; i < op.inputs_.size(); ++i)
    if (op.inputs_[i].field->is_output()) all.append(inputs[i]);
  return nb::len(all) == 1 ? nb::object(all[0]) : nb::tuple(all);
}

nb::object Operator::call(const nb::args& positional, const nb::kwargs& keywords) const {
  Call c(*this);
  c.take(positional, keywords);
  c.read_inputs();
  c.allocate();
  c.run();
  return c.results();
}

}  // namespace kolmo::python
