#include "kolmo/flow/device_call.hpp"

namespace kolmo {

void device_call(const OpBase& op, void* args, Stream& stream) {
  std::vector<Buffer> buffers;
  std::vector<std::pair<const FieldInfo*, Tensor>> outputs;
  const bool copied = !in_host_memory(stream.device());
  for (const FieldInfo& f : op.fields()) {
    if (!f.is_tensor() || !f.tensor(args).given()) continue;
    Tensor& t = f.tensor(args);
    const Tensor host = t;
    t.device = stream.device();
    if (!copied) continue;
    buffers.emplace_back(host.bytes(), stream);
    t.data = buffers.back().data();
    if (f.is_input()) stream.copy(t, host);
    if (f.is_output()) outputs.emplace_back(&f, host);
  }
  try {
    run(op, args, stream);
  } catch (...) {
    stream.synchronize();  // host memory must outlive the copies out of it
    throw;
  }
  for (const auto& [field, host] : outputs) stream.copy(host, field->tensor(args));
  stream.synchronize();
}

}  // namespace kolmo
