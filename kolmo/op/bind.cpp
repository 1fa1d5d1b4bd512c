#include "kolmo/op/bind.hpp"

#include <algorithm>
#include <string>

namespace kolmo {
namespace {

std::string text(std::string_view s) { return std::string(s); }

std::string expected(const FieldInfo& f) {
  std::string s = "(";
  for (const ShapeWord& w : f.shape) {
    if (s.size() > 1) s += ", ";
    s += text(w.name) + (w.offset > 0 && !w.number() ? "+" : "");
    if (w.offset || w.number()) s += std::to_string(w.offset);
    s += w.broadcast ? " or 1" : "";
  }
  s += ") of";
  for (const DType t : all_dtypes)
    if (f.dtypes.has(t)) s += " " + text(to_string(t));
  return s;
}

[[noreturn]] void reject(const OpBase& op, const FieldInfo& f, const std::string& why) {
  fail<InvalidArgument>(text(op.name) + ": " + text(f.name) + " " + why);
}

/// Applies NumPy's broadcasting rule to `joint`: aligned at the last dimension, two extents must be equal or
/// one of them 1.
bool broadcast(Extents& joint, const Extents& more) {
  Extents all;
  const std::size_t rank = std::max(joint.size(), more.size());
  for (std::size_t i = 0; i < rank; ++i) {
    const auto extent = [&](const Extents& e) { return i + e.size() < rank ? 1 : e[i + e.size() - rank]; };
    const std::int64_t a = extent(joint), b = extent(more);
    if (a != b && a != 1 && b != 1) return false;
    all.push(a == 1 ? b : a);
  }
  joint = all;
  return true;
}

void bind_batch(const OpBase& op, const FieldInfo& f, const Tensor& t, const Extents& batch, Dims& dims) {
  if (f.shape.words[std::size_t(f.shape.batch)].broadcast) {
    Extents joint = dims.batch;
    if (!broadcast(joint, batch) || (dims.batch_known && joint != dims.batch))
      reject(op, f, "is " + shape_string(t) + ", which does not broadcast with the other tensors");
    dims.batch = joint;
  } else {
    if (dims.batch_known && batch != dims.batch)
      reject(op, f, "is " + shape_string(t) + ": its leading dimensions differ from those before it");
    dims.batch = batch, dims.batch_known = true;
  }
}

/// The extents of "..." in a field's shape.
Extents batch_of(const FieldInfo& f, const Tensor& t) {
  Extents batch;
  const int before = f.shape.batch, spare = t.rank - f.shape.named();
  for (int i = 0; i < spare; ++i) batch.push(t.dim(before + i));
  return batch;
}

/// Checks the conditions without which the elements of a tensor cannot be counted.
void check_extents(const OpBase& op, const FieldInfo& f, const Tensor& t) {
  for (const std::int64_t e : t.shape())
    if (e < 0) reject(op, f, "is " + shape_string(t) + ", which has a negative extent");
  check_countable(op, f, t.shape(), t.dtype);
}

void bind_shape(const OpBase& op, const FieldInfo& f, const Tensor& t, Dims& dims) {
  const int spare = t.rank - f.shape.named();
  if (spare < 0 || (spare > 0 && f.shape.batch < 0))
    reject(op, f, "is " + shape_string(t) + ", expected " + expected(f));
  int d = 0;
  for (const ShapeWord& w : f.shape) {
    if (w.batch()) {
      if (!w.broadcast) bind_batch(op, f, t, batch_of(f, t), dims);
      d += spare;
      continue;
    }
    const std::int64_t extent = t.dim(d++);
    if (w.number()) {
      if (extent != w.offset) reject(op, f, "is " + shape_string(t) + ", expected " + expected(f));
      continue;
    }
    if (w.broadcast && extent == 1) continue;
    const std::int64_t size = extent - w.offset;
    if (size < 0) reject(op, f, "is " + shape_string(t) + ", expected " + expected(f));
    if (!dims.has(w.name))
      dims.set(w.name, size);
    else if (dims[w.name] != size)
      reject(op, f, "is " + shape_string(t) + ", but " + text(w.name) + " = " + std::to_string(dims[w.name]));
  }
}

void bind_dtype(const OpBase& op, const FieldInfo& f, const Tensor& t, Dims& dims) {
  if (!f.dtypes.has(t.dtype)) reject(op, f, "is " + shape_string(t) + ", expected " + expected(f));
  if (f.dtypes.variable.empty() || f.dtypes.real_part) return;
  const DType* const bound = dims.dtype(f.dtypes.variable);
  if (!bound) return dims.set_dtype(f.dtypes.variable, t.dtype);
  if (*bound != t.dtype)
    reject(op, f,
           "is " + text(to_string(t.dtype)) + ", but the tensors before it are " + text(to_string(*bound)));
}

/// Binds what depends on all other bindings: leading dimensions that broadcast, inputs whose dtype is the
/// real part of a variable's, and sizes for which only extents of 1 were given.
void bind_rest(const OpBase& op, const void* args, Dims& dims) {
  for (const FieldInfo& f : op.fields()) {
    if (!f.is_tensor() || !f.is_input() || !f.tensor(args).given()) continue;
    if (f.dtypes.real_part)
      if (const DType* const bound = dims.dtype(f.dtypes.variable);
          bound && real_of(*bound) != f.tensor(args).dtype)
        reject(op, f,
               "is " + text(to_string(f.tensor(args).dtype)) + ", but the real part of " +
                   text(to_string(*bound)) + " is " + text(to_string(real_of(*bound))));
    for (const ShapeWord& w : f.shape) {
      if (!w.broadcast) continue;
      if (w.batch())
        bind_batch(op, f, f.tensor(args), batch_of(f, f.tensor(args)), dims);
      else if (!dims.has(w.name))
        dims.set(w.name, 1);
    }
  }
}

std::int64_t size_of_word(const OpBase& op, const FieldInfo& field, const ShapeWord& word, const void* args,
                          const Dims& dims) {
  if (dims.has(word.name)) return dims[word.name];
  for (const FieldInfo& f : op.fields())
    if (f.kind == FieldKind::integer && f.name == word.name) return f.value(args).integer;
  reject(op, field, "has the size '" + text(word.name) + "', which no tensor or option gives");
}

}  // namespace

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end) all.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

DType common_dtype(const OpBase& op, const void* args) {
  const FieldInfo* first = nullptr;
  for (const FieldInfo& f : op.fields()) {
    if (!f.is_tensor() || !f.is_input() || f.dtypes.single() || f.dtypes.real_part || !f.tensor(args).given())
      continue;
    if (!first || (f.dtypes.variable == "T" && first->dtypes.variable != "T")) first = &f;
  }
  if (first) return first->tensor(args).dtype;
  for (const FieldInfo& f : op.fields())
    if (f.is_tensor() && !f.dtypes.single())
      return f.dtypes.has(f.tensor(args).dtype) ? f.tensor(args).dtype : f.dtypes.first();
  return DType::f64;
}

Dims bind_inputs(const OpBase& op, const void* args, Device device) {
  Dims dims;
  bool rest = false;
  for (const FieldInfo& f : op.fields()) {
    if (!f.is_tensor()) {
      if (const std::string why = f.refusal(f.value(args)); !why.empty()) reject(op, f, why);
      continue;
    }
    const Tensor& t = f.tensor(args);
    if (!t.given()) {
      if (f.is_input() && !f.optional) reject(op, f, "is missing, expected " + expected(f));
      continue;
    }
    if (!f.is_input()) continue;
    bind_dtype(op, f, t, dims);
    check_extents(op, f, t);
    if (!f.any_strides && !t.contiguous()) reject(op, f, "is not contiguous in row-major order");
    if (t.device != device)
      reject(op, f, "is on " + to_string(t.device) + ", the stream on " + to_string(device));
    if (!t.data && t.size()) reject(op, f, "has no memory");
    bind_shape(op, f, t, dims);
    rest |= f.dtypes.real_part || f.shape.text.find('?') != std::string_view::npos;
  }
  if (rest) bind_rest(op, args, dims);
  return dims;
}

Extents extents_of(const OpBase& op, const FieldInfo& field, const void* args, const Dims& dims) {
  Extents shape;
  for (const ShapeWord& w : field.shape) {
    if (w.batch()) {
      for (const std::int64_t e : dims.batch) shape.push(e);
      continue;
    }
    if (w.number()) {
      shape.push(w.offset);
      continue;
    }
    const std::int64_t size = size_of_word(op, field, w, args, dims);
    std::int64_t extent = 0;
    if (__builtin_add_overflow(size, w.offset, &extent))
      reject(op, field, "would have too large an extent: " + text(w.name) + " = " + std::to_string(size));
    if (extent < 0)
      reject(op, field,
             "would have the extent " + std::to_string(extent) + ": " + text(w.name) + " = " +
                 std::to_string(size));
    shape.push(extent);
  }
  return shape;
}

void check_countable(const OpBase& op, const FieldInfo& field, std::span<const std::int64_t> extents,
                     DType dtype) {
  auto bytes = std::int64_t(size_of(dtype));
  for (const std::int64_t e : extents)
    if (e && __builtin_mul_overflow(bytes, e, &bytes)) {
      std::string shape;
      for (const std::int64_t each : extents) shape += (shape.empty() ? "" : ", ") + std::to_string(each);
      reject(
          op, field,
          "of shape (" + shape + ") and dtype " + text(to_string(dtype)) + " has more than 2^63 - 1 bytes");
    }
}

DType bind_output_dtype(const FieldInfo& f, const void* args, Dims& dims) {
  if (f.dtypes.single()) return f.dtypes.first();
  const DType* const bound = dims.dtype(f.dtypes.variable);
  if (bound) return f.dtypes.real_part ? real_of(*bound) : *bound;
  const DType own = f.dtypes.has(f.tensor(args).dtype) ? f.tensor(args).dtype : f.dtypes.first();
  if (!f.dtypes.variable.empty() && !f.dtypes.real_part) dims.set_dtype(f.dtypes.variable, own);
  return own;
}

const std::int64_t* Dims::find(std::string_view name) const {
  for (int i = 0; i < count_; ++i)
    if (sizes_[std::size_t(i)].name == name) return &sizes_[std::size_t(i)].value;
  return nullptr;
}
std::int64_t Dims::operator[](std::string_view name) const {
  if (const auto* size = find(name)) return *size;
  fail<InvalidArgument>("no tensor or option gives the size '" + text(name) + "'");
}
void Dims::set(std::string_view name, std::int64_t size) {
  if (count_ == capacity) fail<InvalidArgument>("more than 24 named sizes");
  sizes_[std::size_t(count_++)] = {name, size};
}
const DType* Dims::dtype(std::string_view variable) const {
  for (int i = 0; i < dtype_count_; ++i)
    if (dtypes_[std::size_t(i)].name == variable) return &dtypes_[std::size_t(i)].value;
  return nullptr;
}
void Dims::set_dtype(std::string_view variable, DType t) {
  if (dtype_count_ == dtype_capacity) fail<InvalidArgument>("more than 6 dtype variables");
  dtypes_[std::size_t(dtype_count_++)] = {variable, t};
}

void rethrow_named(const OpBase& op, const void* args) {
  const std::string name = text(op.name);
  const auto with_name = [&](const Error& e) {
    const std::string what = e.what();
    return what.starts_with(name + ":") ? what : name + ": " + what;
  };
  const auto argument = [&](auto&& is) {
    for (const FieldInfo& f : op.fields())
      if (f.is_tensor() && f.tensor(args).given() && is(f.tensor(args))) return text(f.name) + ": ";
    return std::string();
  };
  try {
    throw;
  } catch (const WrongDType& e) {
    const std::string which = argument([&](const Tensor& t) { return t.data == e.data; });
    throw WrongDType(name + ": " + which + e.what(), e.data, e.where());
  } catch (const NoCode& e) {
    const std::string which = argument([&](const Tensor& t) { return t.dtype == e.dtype; });
    throw NoCode(name + ": " + which + e.what(), e.dtype, e.where());
  } catch (const InvalidArgument& e) {
    throw InvalidArgument(with_name(e), e.where());
  } catch (const Unsupported& e) {
    throw Unsupported(with_name(e), e.where());
  }
}

}  // namespace kolmo
