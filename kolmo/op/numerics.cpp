#include "kolmo/op/numerics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "kolmo/op/span.hpp"
#include "kolmo/runtime/device.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::numerics {
namespace {

bool looked_at(const Tensor& t) { return (floats.mask | complexes.mask) >> unsigned(t.dtype) & 1; }

struct BadNumber {
  std::int64_t element;
  double value;
};

/// The first number that is NaN or, unless documented as possible, infinite. Complex elements count as two
/// numbers each.
std::optional<BadNumber> first_bad(const Tensor& t, bool may_be_infinite) {
  const bool is_complex = complexes.has(t.dtype), flat = t.contiguous();
  const std::int64_t width = is_complex ? 2 : 1;
  std::optional<BadNumber> bad;
  visit<double, float, Half, BFloat16>(is_complex ? real_of(t.dtype) : t.dtype, [&]<class T>() {
    const T* values = static_cast<const T*>(t.data);
    for (std::int64_t i = 0, n = t.size(); i < n && !bad; ++i)
      for (std::int64_t part = 0, at = flat ? i : offset_of(t, i); part < width && !bad; ++part) {
        const double v = double(values[at * width + part]);
        if (may_be_infinite ? std::isnan(v) : !std::isfinite(v)) bad = {i, v};
      }
  });
  return bad;
}

std::string index_text(const Tensor& t, std::int64_t flat) {
  std::string text = "]";
  for (int d = t.rank - 1; d >= 0; --d) {
    const std::int64_t extent = t.extent[std::size_t(d)];
    text = (d ? ", " : "[") + std::to_string(flat % extent) + text;
    flat /= extent;
  }
  return t.rank ? text : "";
}

std::string value_text(double value) {
  return std::isnan(value) ? "NaN" : value < 0 ? "-infinity" : "infinity";
}

/// Returns the tensor in host memory, with its strides. `bytes` holds the copy if one was needed.
Tensor on_host(const Tensor& t, Stream& stream, std::vector<std::byte>& bytes) {
  if (in_host_memory(t.device)) return t;
  const ByteSpan span = span_of(t);
  bytes.resize(span.size());
  const std::array extent{bytes.size()};
  stream.copy(tensor(bytes.data(), DType::u8, extent), tensor(span.begin, DType::u8, extent, t.device));
  stream.synchronize();
  Tensor host = t;
  host.data = bytes.data() + (static_cast<std::byte*>(t.data) - span.begin), host.device = {};
  return host;
}

/// Returns the tensor of a field, without the elements beyond its counter.
Tensor written_part(const OpBase& op, const FieldInfo& field, const void* args, Stream& stream) {
  Tensor t = field.tensor(args);
  std::vector<std::byte> bytes;
  for (const FieldInfo& f : op.fields())
    if (!field.counter.empty() && f.name == field.counter && f.tensor(args).given() && t.rank)
      t.extent[0] =
          std::clamp<std::int64_t>(*on_host(f.tensor(args), stream, bytes).as<std::int64_t>(), 0, t.dim(0));
  return t;
}

std::string first(const OpBase& op, const void* args, Stream& stream, bool (FieldInfo::*direction)() const) {
  std::vector<std::byte> bytes;
  for (const FieldInfo& f : op.fields()) {
    if (!(f.*direction)() || !f.tensor(args).given() || !looked_at(f.tensor(args))) continue;
    const Tensor t = on_host(written_part(op, f, args, stream), stream, bytes);
    if (const auto bad = first_bad(t, f.infinite))
      return std::string(f.name) + index_text(t, bad->element) + " is " + value_text(bad->value);
  }
  return "";
}

}  // namespace

std::string first_input(const OpBase& op, const void* args, Stream& stream) {
  return first(op, args, stream, &FieldInfo::is_input);
}

void check_outputs(const OpBase& op, const void* args, Stream& stream) {
  const std::string bad = first(op, args, stream, &FieldInfo::is_output);
  if (bad.empty()) return;
  std::string shapes;
  for (const FieldInfo& f : op.fields())
    if (f.is_tensor() && f.tensor(args).given())
      shapes += (shapes.empty() ? "" : ", ") + std::string(f.name) + " " + shape_string(f.tensor(args));
  fail<NonFinite>(std::string(op.name) + ": " + bad + " where every input is finite (" + shapes + ")");
}

}  // namespace kolmo::numerics
