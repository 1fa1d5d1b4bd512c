#include "kolmo/check/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>
#include <vector>

namespace kolmo::check {
namespace {

/// Bytes from the first element of a tensor to the end of its last.
std::size_t span_bytes(const Tensor& t) {
  if (!t.size()) return 0;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < std::size_t(t.rank); ++i) last += (t.extent[i] - 1) * t.stride[i];
  return std::size_t(last + 1) * size_of(t.dtype);
}

/// Host memory that one or several overlapping tensors cover, and its copy on the device.
struct Region {
  std::byte *begin, *end;
  bool written;
  Buffer copy{};

  Tensor host() const { return kolmo::tensor(begin, DType::u8, std::vector<std::int64_t>{end - begin}); }
  Tensor device() const { return copy.as(DType::u8, std::vector<std::int64_t>{end - begin}); }
};

std::vector<Region> regions_of(const OpBase& op, void* args) {
  std::vector<Region> all;
  for (const FieldInfo& f : op.fields()) {
    if (!f.is_tensor() || !f.tensor(args).data) continue;
    auto* const data = static_cast<std::byte*>(f.tensor(args).data);
    all.push_back({data, data + span_bytes(f.tensor(args)), f.is_output()});
  }
  std::sort(all.begin(), all.end(), [](const Region& a, const Region& b) { return a.begin < b.begin; });
  std::vector<Region> merged;
  for (Region& r : all) {
    if (!merged.empty() && r.begin < merged.back().end) {
      merged.back().end = std::max(merged.back().end, r.end);
      merged.back().written |= r.written;
    } else {
      merged.push_back(std::move(r));
    }
  }
  return merged;
}

}  // namespace

long double get(const Tensor& t, std::int64_t i) {
  switch (t.dtype) {
    case DType::f64:
      return static_cast<const double*>(t.data)[i];
    case DType::f32:
      return static_cast<const float*>(t.data)[i];
    case DType::f16:
      return float(static_cast<const Half*>(t.data)[i]);
    case DType::bf16:
      return float(static_cast<const BFloat16*>(t.data)[i]);
    case DType::i64:
      return static_cast<long double>(static_cast<const std::int64_t*>(t.data)[i]);
    case DType::i32:
      return static_cast<const std::int32_t*>(t.data)[i];
    case DType::u8:
      return static_cast<const std::uint8_t*>(t.data)[i];
  }
  return 0;
}

void put(const Tensor& t, std::int64_t i, long double value) {
  switch (t.dtype) {
    case DType::f64:
      static_cast<double*>(t.data)[i] = double(value);
      break;
    case DType::f32:
      static_cast<float*>(t.data)[i] = float(value);
      break;
    case DType::f16:
      static_cast<Half*>(t.data)[i] = Half(float(value));
      break;
    case DType::bf16:
      static_cast<BFloat16*>(t.data)[i] = BFloat16(float(value));
      break;
    case DType::i64:
      static_cast<std::int64_t*>(t.data)[i] = std::int64_t(value);
      break;
    case DType::i32:
      static_cast<std::int32_t*>(t.data)[i] = std::int32_t(value);
      break;
    case DType::u8:
      static_cast<std::uint8_t*>(t.data)[i] = std::uint8_t(value);
  }
}

void call(const OpBase& op, void* args, Stream& stream, RunOptions options) {
  const bool on_host = stream.device().kind != DeviceKind::cuda;
  std::vector<Region> regions;
  if (!on_host) regions = regions_of(op, args);
  for (Region& r : regions) {
    r.copy = Buffer(std::size_t(r.end - r.begin), stream);
    stream.copy(r.device(), r.host());
  }
  for (const FieldInfo& f : op.fields()) {
    if (!f.is_tensor() || !f.tensor(args).given() || f.tensor(args).device != Device{}) continue;
    Tensor& t = f.tensor(args);
    t.device = stream.device();
    for (const Region& r : regions)
      if (t.data >= r.begin && t.data < r.end)
        t.data = static_cast<std::byte*>(r.copy.data()) + (static_cast<std::byte*>(t.data) - r.begin);
  }
  run(op, args, stream, options);
  for (const Region& r : regions)
    if (r.written) stream.copy(r.host(), r.device());
  stream.synchronize();
}

namespace {

struct Added {
  std::mutex mutex;
  std::vector<const OracleBase*> oracles;
};
Added& added() {
  static Added a;
  return a;
}

}  // namespace

void register_op(const OpEntry& entry, const OracleBase& oracle) {
  if (oracle.op != entry.op)
    fail<InvalidArgument>("register_op: the oracle of '" + std::string(oracle.op->name) + "' is given for '" +
                          std::string(entry.op->name) + "'");
  const std::lock_guard lock(added().mutex);
  kolmo::register_op(entry);
  added().oracles.push_back(&oracle);
}

const OracleBase& oracle_of(const OpBase& op) {
  for (const OracleBase* oracle : detail::built_in_oracles())
    if (oracle->op == &op) return *oracle;
  const std::lock_guard lock(added().mutex);
  for (const OracleBase* oracle : added().oracles)
    if (oracle->op == &op) return *oracle;
  fail<Unsupported>(std::string(op.name) + " has no oracle");
}

void expect(bool ok, const std::string& what) {
  if (!ok) fail<Error>(what);
}

void expect_near(double got, double want, double tolerance, const std::string& what) {
  const bool equal = got == want || (std::isnan(got) && std::isnan(want));
  if (equal || std::abs(got - want) <= tolerance * std::max(1.0, std::abs(want))) return;
  char numbers[160];
  std::snprintf(numbers, sizeof numbers, ": got %.17g, want %.17g, apart by %.3g, allowed %.3g", got, want,
                std::abs(got - want), tolerance * std::max(1.0, std::abs(want)));
  fail<Error>(what + numbers);
}

void expect_invalid(const std::function<void()>& f, std::string_view part) {
  try {
    f();
  } catch (const InvalidArgument& e) {
    expect(std::string_view(e.what()).find(part) != std::string_view::npos,
           "the message is '" + std::string(e.what()) + "', expected '" + std::string(part) + "' in it");
    return;
  }
  fail<Error>("nothing was refused; expected '" + std::string(part) + "'");
}

}  // namespace kolmo::check
