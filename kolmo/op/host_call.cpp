#include "kolmo/op/host_call.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "kolmo/op/define.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/op/span.hpp"

namespace kolmo {
namespace {

/// Host memory covered by one or several overlapping tensors, and its copy on the device.
struct Region {
  std::byte *begin, *end;
  bool read, written;
  Buffer copy{};

  bool holds(const void* data) const { return data >= begin && data < end; }
  Tensor host() const { return kolmo::tensor(begin, DType::u8, std::array{end - begin}); }
  Tensor device() const { return copy.as(DType::u8, std::array{end - begin}); }
};

bool staged(const FieldInfo& f, void* args) {
  return f.is_tensor() && f.tensor(args).given() && f.tensor(args).device == Device{};
}

std::vector<Region> regions_of(const OpBase& op, void* args) {
  std::vector<Region> all, merged;
  for (const FieldInfo& f : op.fields()) {
    if (!staged(f, args) || !f.tensor(args).data) continue;
    const auto [begin, end] = span_of(f.tensor(args));
    if (begin != end)
      all.push_back({begin, end, f.is_input() || !f.tensor(args).contiguous(), f.is_output()});
  }
  std::sort(all.begin(), all.end(), [](const Region& a, const Region& b) { return a.begin < b.begin; });
  for (Region& r : all) {
    if (!merged.empty() && r.begin < merged.back().end) {
      merged.back().end = std::max(merged.back().end, r.end);
      merged.back().read |= r.read, merged.back().written |= r.written;
    } else {
      merged.push_back(std::move(r));
    }
  }
  return merged;
}

}  // namespace

void call_on_host(const OpEntry& entry, const void* given, Stream& stream, RunOptions options) {
  const OpBase& op = *entry.op;
  require(!stream.capturing(), std::string(op.name) + ": call_on_host waits, which a captured stream cannot");
  const auto* bytes = static_cast<const std::byte*>(given);
  std::vector<std::byte> copy(bytes, bytes + op.args_size());
  void* const args = copy.data();
  std::vector<Region> regions;
  if (!in_host_memory(stream.device())) regions = regions_of(op, args);
  try {
    for (Region& r : regions) {
      r.copy = Buffer(std::size_t(r.end - r.begin), stream);
      if (r.read) stream.copy(r.device(), r.host());
    }
    for (const FieldInfo& f : op.fields()) {
      if (!staged(f, args)) continue;
      Tensor& t = f.tensor(args);
      t.device = stream.device();
      for (const Region& r : regions)
        if (r.holds(t.data)) {
          t.data = static_cast<std::byte*>(r.copy.data()) + (static_cast<std::byte*>(t.data) - r.begin);
          break;
        }
    }
    run(entry, args, stream, options);
    for (const Region& r : regions)
      if (r.written) stream.copy(r.host(), r.device());
  } catch (...) {
    stream.synchronize();  // the copies read host memory that the caller may free after this
    throw;
  }
  stream.synchronize();
}

void call_on_host(const OpBase& op, const void* args, Stream& stream, RunOptions options) {
  call_on_host(entry_of(op), args, stream, options);
}

void call_on_host(const OpBase& op, const AliasInfo& alias, void* args, Stream& stream, RunOptions options) {
  for (const Binding& b : alias.binds) b.apply(args);
  call_on_host(entry_of(op, alias), args, stream, options);
}

}  // namespace kolmo
