#include "kolmo/check/placement.hpp"

#include <algorithm>
#include <cstring>

#include "kolmo/check/compare.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#endif

namespace kolmo::check {
namespace {

constexpr std::size_t guard_bytes = 256;  // a multiple of the pool's alignment
constexpr std::byte guard_byte{0x5A}, workspace_guard{0xA5};

Tensor flat(void* data, std::size_t bytes, Device device) {
  return tensor(data, DType::u8, std::vector<std::size_t>{bytes}, device);
}

bool all_are(const std::byte* begin, std::size_t n, std::byte value) {
  return std::all_of(begin, begin + n, [&](std::byte b) { return b == value; });
}

}  // namespace

std::byte poison_byte(Poison poison, DType dtype) {
  if (inexact(dtype)) return std::byte(poison);
  return poison == Poison::nan ? std::byte{0xA5} : std::byte{0x5B};
}

std::string unwritten(const OpBase& op, const HostTensors& first, const HostTensors* second) {
  for (std::size_t f = 0; f < first.size(); ++f) {
    const Tensor& t = first[f].tensor;
    if (!t.given()) continue;
    const std::size_t size = size_of(t.dtype);
    const auto holds = [&](const HostTensors& all, std::int64_t i, Poison poison) {
      return all_are(all[f].bytes().data() + std::size_t(i) * size, size, poison_byte(poison, t.dtype));
    };
    for (std::int64_t i = 0; i < t.size(); ++i)
      if (holds(first, i, Poison::nan) && (!second || holds(*second, i, Poison::large)) &&
          counted(op, first, f, i))
        return place(op.fields()[f].name, t, i) + " was not written";
  }
  return {};
}

Placement::Placement(const Problem& problem, Stream& stream, Poison poison, const Alias* alias)
    : op_(&problem.op()), device_(stream.device()), slots_(problem.op().fields().size()) {
  const auto* bytes = static_cast<const std::byte*>(problem.args());
  args_.assign(bytes, bytes + op_->args_size());
  const auto fields = op_->fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool aliased = alias && alias->output == i;
    if (!fields[i].is_tensor() || !problem.field(i).given() || aliased) continue;
    Slot& slot = slots_[i];
    const Tensor& host = problem.field(i);
    slot.output = fields[i].is_output() || (alias && alias->input == i);
    slot.image.assign(host.bytes() + 2 * guard_bytes, guard_byte);
    if (fields[i].is_input()) {
      if (host.bytes()) std::memcpy(slot.image.data() + guard_bytes, host.data, host.bytes());
    } else {
      std::fill_n(slot.image.begin() + guard_bytes, host.bytes(), poison_byte(poison, host.dtype));
    }
    slot.buffer = Buffer(slot.image.size(), stream);
    stream.copy(whole(slot), flat(slot.image.data(), slot.image.size(), {}));
    guard(slot, true);
    Tensor& placed = fields[i].tensor(args());
    placed.data = static_cast<std::byte*>(slot.buffer.data()) + guard_bytes;
    placed.device = device_;
  }
  if (alias) fields[alias->output].tensor(args()).data = fields[alias->input].tensor(args()).data;
  if (alias) fields[alias->output].tensor(args()).device = device_;
  stream.synchronize();
}

Placement::~Placement() {
  for (const Slot& slot : slots_) guard(slot, false);
}

Tensor Placement::whole(const Slot& slot) const {
  return flat(slot.buffer.data(), slot.image.size(), device_);
}

void Placement::guard(const Slot& slot, bool on) const {
  if (device_.kind == DeviceKind::cuda || slot.image.empty()) return;
  auto* const begin = static_cast<std::byte*>(slot.buffer.data());
  auto* const end = begin + slot.image.size() - guard_bytes;
  if (on) {
    ASAN_POISON_MEMORY_REGION(begin, guard_bytes);
    ASAN_POISON_MEMORY_REGION(end, guard_bytes);
  } else {
    ASAN_UNPOISON_MEMORY_REGION(begin, guard_bytes);
    ASAN_UNPOISON_MEMORY_REGION(end, guard_bytes);
  }
}

void Placement::load(const Placement& from, Stream& stream) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].image.empty()) continue;
    guard(slots_[i], false), from.guard(from.slots_[i], false);
    stream.copy(whole(slots_[i]), from.whole(from.slots_[i]));
    guard(slots_[i], true), from.guard(from.slots_[i], true);
    slots_[i].image = from.slots_[i].image;
  }
}

Outcome Placement::collect(Stream& stream) {
  Outcome outcome{HostTensors(slots_.size()), {}};
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.image.empty()) continue;
    std::vector<std::byte> now(slot.image.size());
    guard(slot, false);
    stream.copy(flat(now.data(), now.size(), {}), whole(slot));
    stream.synchronize();
    guard(slot, true);
    const std::size_t n = now.size() - 2 * guard_bytes;
    const std::string name(op_->fields()[i].name);
    if (!all_are(now.data(), guard_bytes, guard_byte)) outcome.damage += " the memory before " + name;
    if (!all_are(now.data() + guard_bytes + n, guard_bytes, guard_byte))
      outcome.damage += " the memory after " + name;
    if (!slot.output && now != slot.image) outcome.damage += " the input " + name;
    if (!slot.output) continue;
    const Tensor& t = op_->fields()[i].tensor(static_cast<const void*>(args_.data()));
    outcome.outputs[i] = Array(t.dtype, t.shape());
    std::copy_n(now.begin() + guard_bytes, n, outcome.outputs[i].bytes().begin());
  }
  return outcome;
}

bool Placement::untouched(const Outcome& outcome) const {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].output &&
        !std::ranges::equal(
            outcome.outputs[i].bytes(),
            std::span(slots_[i].image).subspan(guard_bytes).first(outcome.outputs[i].bytes().size())))
      return false;
  return outcome.damage.empty();
}

GuardedBytes::GuardedBytes(std::size_t bytes, Stream& stream)
    : bytes_(bytes), buffer_(bytes + 2 * guard_bytes, stream) {
  const Tensor all = flat(buffer_.data(), buffer_.bytes(), stream.device());
  stream.fill(all, int(workspace_guard));
}

void* GuardedBytes::data() const { return static_cast<std::byte*>(buffer_.data()) + guard_bytes; }

bool GuardedBytes::intact(Stream& stream) const {
  std::vector<std::byte> now(buffer_.bytes());
  stream.copy(flat(now.data(), now.size(), {}), flat(buffer_.data(), now.size(), stream.device()));
  stream.synchronize();
  return all_are(now.data(), guard_bytes, workspace_guard) &&
         all_are(now.data() + guard_bytes + bytes_, guard_bytes, workspace_guard);
}

}  // namespace kolmo::check
