#include "kolmo/op/shape.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace kolmo {
namespace {

std::string text(std::string_view s) { return std::string(s); }

std::string expected(const FieldInfo& f) {
  std::string s = "(";
  for (const auto w : words(f.shape)) s += (s.size() > 1 ? ", " : "") + text(w);
  s += ") of";
  for (const DType t : all_dtypes)
    if (f.dtypes.has(t)) s += " " + text(to_string(t));
  return s;
}

/// The size a shape word spells out, or -1 when it is a name.
std::int64_t literal(std::string_view word) {
  std::int64_t size = -1;
  std::from_chars(word.data(), word.data() + word.size(), size);
  return size;
}

[[noreturn]] void reject(const OpBase& op, const FieldInfo& f, const std::string& why) {
  fail<InvalidArgument>(text(op.name) + ": " + text(f.name) + " " + why);
}

void bind(const OpBase& op, const FieldInfo& f, const Tensor& t, Dims& dims) {
  auto names = words(f.shape);
  const bool batched = !names.empty() && names[0] == "...";
  if (batched) names.erase(names.begin());
  const int lead = t.rank - int(names.size());
  if (lead < 0 || (lead > 0 && !batched))
    reject(op, f, "is " + shape_string(t) + ", expected " + expected(f));
  if (batched) {
    const std::vector<std::int64_t> batch(t.extent.begin(), t.extent.begin() + lead);
    if (dims.batch_known && batch != dims.batch)
      reject(op, f, "is " + shape_string(t) + ": its leading dimensions differ from those before it");
    dims.batch = batch, dims.batch_known = true;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::int64_t extent = t.extent[std::size_t(lead) + i];
    if (const std::int64_t fixed = literal(names[i]); fixed >= 0) {
      if (extent != fixed) reject(op, f, "is " + shape_string(t) + ", expected " + expected(f));
      continue;
    }
    if (!dims.has(names[i]))
      dims.set(names[i], extent);
    else if (dims[names[i]] != extent)
      reject(op, f,
             "is " + shape_string(t) + ", but " + text(names[i]) + " = " + std::to_string(dims[names[i]]));
  }
}

void check_option(const OpBase& op, const FieldInfo& f, const void* args) {
  if (f.kind == FieldKind::flag) return;
  const double v = f.number(args);
  if (!(v >= f.min && v <= f.max)) {
    const auto show = [](double x) {
      std::string s = std::to_string(x);
      s.erase(s.find_last_not_of('0') + 1);
      if (s.back() == '.') s.pop_back();
      return s;
    };
    reject(op, f, "is " + show(v) + ", accepted are " + show(f.min) + " to " + show(f.max));
  }
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
  for (const FieldInfo& f : op.fields())
    if (f.is_tensor() && f.is_input() && !f.dtypes.single() && f.tensor(args).given())
      return f.tensor(args).dtype;
  for (const FieldInfo& f : op.fields())
    if (f.is_tensor() && !f.dtypes.single())
      return f.dtypes.has(f.tensor(args).dtype) ? f.tensor(args).dtype : f.dtypes.first();
  return DType::f64;
}

Dims bind_inputs(const OpBase& op, const void* args, Device device) {
  Dims dims;
  const DType common = common_dtype(op, args);
  for (const FieldInfo& f : op.fields()) {
    if (!f.is_tensor()) {
      check_option(op, f, args);
      continue;
    }
    const Tensor& t = f.tensor(args);
    if (!t.given()) {
      if (f.is_input() && !f.optional) reject(op, f, "is missing, expected " + expected(f));
      continue;
    }
    if (!f.is_input()) continue;
    if (!f.dtypes.has(t.dtype)) reject(op, f, "is " + shape_string(t) + ", expected " + expected(f));
    if (!f.dtypes.single() && t.dtype != common)
      reject(op, f,
             "is " + text(to_string(t.dtype)) + ", but the tensors before it are " + text(to_string(common)));
    if (!t.contiguous()) reject(op, f, "is not contiguous in row-major order");
    if (t.device != device)
      reject(op, f, "is on " + to_string(t.device) + ", the stream on " + to_string(device));
    if (!t.data && t.size()) reject(op, f, "has no memory");
    bind(op, f, t, dims);
  }
  return dims;
}

std::vector<std::int64_t> extents_of(const OpBase& op, const FieldInfo& field, const void* args,
                                     const Dims& dims) {
  std::vector<std::int64_t> shape;
  for (const auto name : words(field.shape)) {
    if (name == "...") {
      shape.insert(shape.end(), dims.batch.begin(), dims.batch.end());
      continue;
    }
    if (const std::int64_t fixed = literal(name); fixed >= 0) {
      shape.push_back(fixed);
      continue;
    }
    const FieldInfo* option = nullptr;
    for (const FieldInfo& f : op.fields())
      if (f.kind == FieldKind::integer && f.name == name) option = &f;
    shape.push_back(!dims.has(name) && option ? std::int64_t(option->number(args)) : dims[name]);
  }
  return shape;
}

const std::int64_t* Dims::find(std::string_view name) const {
  for (const auto& [n, size] : sizes_)
    if (n == name) return &size;
  return nullptr;
}
std::int64_t Dims::operator[](std::string_view name) const {
  if (const auto* size = find(name)) return *size;
  fail<InvalidArgument>("no tensor or option gives the size '" + text(name) + "'");
}
void Dims::set(std::string_view name, std::int64_t size) { sizes_.emplace_back(name, size); }

double FieldInfo::number(const void* args) const {
  const void* p = at(const_cast<void*>(args));
  switch (kind) {
    case FieldKind::flag:
      return *static_cast<const bool*>(p);
    case FieldKind::integer:
      return double(*static_cast<const std::int64_t*>(p));
    case FieldKind::real:
      return *static_cast<const double*>(p);
    default:
      return *static_cast<const std::int32_t*>(p);
  }
}
void FieldInfo::set_number(void* args, double value) const {
  void* p = at(args);
  switch (kind) {
    case FieldKind::flag:
      *static_cast<bool*>(p) = value != 0;
      break;
    case FieldKind::integer:
      *static_cast<std::int64_t*>(p) = std::int64_t(value);
      break;
    case FieldKind::real:
      *static_cast<double*>(p) = value;
      break;
    default:
      *static_cast<std::int32_t*>(p) = std::int32_t(value);
  }
}

}  // namespace kolmo
