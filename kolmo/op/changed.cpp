#include "kolmo/op/changed.hpp"

#include <algorithm>

namespace kolmo {

static Tensor with_data(Tensor t, const Buffer& memory) {
  t.data = memory.data();
  return t;
}

ChangedTensors::ChangedTensors(const OpBase& op, void* args, Stream& stream) : stream_(stream) {
  for (const FieldInfo& f : op.fields()) {
    if (f.kind != FieldKind::inout) continue;
    Tensor& t = f.tensor(args);
    if (!t.given() || !t.data || t.device != stream_.device()) continue;  // run() says what is wrong
    changed_.push_back({&t, Buffer(t.bytes(), stream_), {}});
    stream_.copy(with_data(t, changed_.back().original), t);
    bytes_ += t.bytes();
  }
  if (reserve(1)) restore(1), use(0);
}

int ChangedTensors::reserve(int wanted) {
  if (!bytes_) return wanted;
  const int calls = std::clamp(int(std::min(256e6 / double(bytes_), 1e9)), 1, wanted);
  for (Changed& c : changed_)
    while (c.copies.size() < std::size_t(calls)) c.copies.emplace_back(c.original.bytes(), stream_);
  return calls;
}

void ChangedTensors::restore(int calls) {
  for (const Changed& c : changed_)
    for (int i = 0; i < calls && i < int(c.copies.size()); ++i)
      stream_.copy(with_data(*c.tensor, c.copies[std::size_t(i)]), with_data(*c.tensor, c.original));
}

void ChangedTensors::use(int i) {
  for (Changed& c : changed_)
    if (!c.copies.empty()) c.tensor->data = c.copies[std::size_t(i) % c.copies.size()].data();
}

}  // namespace kolmo
