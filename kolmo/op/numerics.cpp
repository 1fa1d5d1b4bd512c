#include "kolmo/op/numerics.hpp"

#include <cmath>
#include <cstring>

namespace kolmo::numerics {
namespace {

/// Index of the first element that is not finite, or -1.
std::int64_t first_bad(const Tensor& t) {
  std::int64_t bad = -1;
  const auto search = [&]<class T>() {
    const T* values = t.as<T>();
    for (std::int64_t i = 0, n = t.size(); i < n && bad < 0; ++i)
      if (!std::isfinite(double(values[i]))) bad = i;
  };
  if (t.dtype <= DType::bf16) visit<double, float, Half, BFloat16>(t.dtype, search);
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

std::string value_text(const Tensor& t, std::int64_t flat) {
  double value = 0;
  visit<double, float, Half, BFloat16>(t.dtype, [&]<class T>() { value = double(t.as<T>()[flat]); });
  return std::isnan(value) ? "NaN" : value < 0 ? "-infinity" : "infinity";
}

/// The tensor in host memory; `bytes` keeps what had to be copied.
Tensor on_host(const Tensor& t, Stream& stream, std::vector<std::byte>& bytes) {
  if (in_host_memory(t.device)) return t;
  bytes.resize(t.bytes());
  Tensor host = t;
  host.data = bytes.data(), host.device = {};
  stream.copy(host, t);
  stream.synchronize();
  return host;
}

std::string first(const OpBase& op, const void* args, Stream& stream, bool (FieldInfo::*direction)() const) {
  std::vector<std::byte> bytes;
  for (const FieldInfo& f : op.fields()) {
    if (!(f.*direction)() || !f.tensor(args).given() || f.tensor(args).dtype > DType::bf16) continue;
    const Tensor t = on_host(f.tensor(args), stream, bytes);
    if (const std::int64_t i = first_bad(t); i >= 0)
      return std::string(f.name) + index_text(t, i) + " is " + value_text(t, i);
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
