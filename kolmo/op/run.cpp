#include <string>

#include "kolmo/op/chooser.hpp"
#include "kolmo/op/numerics.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/op/shape.hpp"
#include "kolmo/runtime/memory/tracker.hpp"
#include "kolmo/runtime/monitor.hpp"

namespace kolmo {
namespace {

std::string text(std::string_view s) { return std::string(s); }

Dims all_sizes(const OpBase& op, const void* args, Device device) {
  Dims dims = bind_inputs(op, args, device);
  op.check(args);
  op.sizes(args, dims);
  return dims;
}

bool overlap(const Tensor& a, const Tensor& b) {
  const auto begin = [](const Tensor& t) { return static_cast<const std::byte*>(t.data); };
  return begin(a) < begin(b) + b.bytes() && begin(b) < begin(a) + a.bytes();
}

void check_aliasing(const OpBase& op, const FieldInfo& out, const void* args) {
  const Tensor& t = out.tensor(args);
  for (const FieldInfo& f : op.fields()) {
    if (!f.is_tensor() || f.name == out.name || !f.tensor(args).given() || !overlap(t, f.tensor(args)))
      continue;
    const bool same = f.tensor(args).data == t.data && f.tensor(args).bytes() == t.bytes();
    if (!(op.in_place && same && f.is_input() && f.shape == out.shape))
      fail<InvalidArgument>(text(op.name) + ": " + text(out.name) + " overlaps " + text(f.name) +
                            " in memory");
  }
}

/// True when there is anything to write.
bool check_outputs(const OpBase& op, const void* args, const Dims& dims, Device device) {
  bool work = false;
  const DType common = op.output_dtype(args, common_dtype(op, args));
  for (const FieldInfo& f : op.fields()) {
    if (f.kind != FieldKind::out) {
      work |= f.kind == FieldKind::inout && f.tensor(args).size();
      continue;
    }
    const Tensor& t = f.tensor(args);
    if (!t.given() && f.optional) continue;
    const DType dtype = f.dtypes.single() ? f.dtypes.first() : common;
    const Tensor want = tensor(nullptr, dtype, extents_of(op, f, args, dims), device);
    if (!t.given() || t.dtype != want.dtype || t.device != want.device || t.rank != want.rank ||
        t.extent != want.extent || !t.contiguous() || (!t.data && t.size()))
      fail<InvalidArgument>(text(op.name) + ": " + text(f.name) + " is " + shape_string(t) +
                            ", expected contiguous " + shape_string(want));
    check_aliasing(op, f, args);
    work |= t.size() != 0;
  }
  return work;
}

int choose_variant(const OpEntry& entry, const void* args, Device device, int asked) {
  const std::string name = text(entry.op->name);
  if (asked >= 0 && !entry.fits(args, device.kind, asked))
    fail<InvalidArgument>(name + ": variant " + std::to_string(asked) + " does not exist or does not fit");
  if (asked >= 0) return asked;
  const int variant = entry.default_variant(args, device.kind);
  if (variant >= 0) return variant;
  fail<Unsupported>(name + ": no variant fits these arguments on " + to_string(device));
}

void launch(const OpBase& op, const CudaImpl* impl, const void* args, Stream& stream, int variant) {
  const memory::Tag tag(op.name);
  const Buffer workspace(
      impl ? impl->workspace(args, variant) : op.cpu_workspace(args, stream.threads(), variant), stream);
  if (impl)
    impl->launch(args, workspace.data(), stream, variant);
  else
    op.run_cpu(args, workspace.data(), stream, variant);
}

void launch_watched(const OpBase& op, const CudaImpl* impl, const void* args, Stream& stream, int variant,
                    std::uint64_t call) {
  const bool trap =
      numerics::checked.load(std::memory_order_relaxed) && numerics::first_input(op, args, stream).empty();
  {
    const monitor::Scope scope(op.name, stream, [&] {
      const Cost c = cost(op, args);
      return monitor::Work{c.flops, c.bytes_read + c.bytes_written, common_dtype(op, args) == DType::f64,
                           call};
    });
    launch(op, impl, args, stream, variant);
  }
  if (trap) numerics::check_outputs(op, args, stream);
}

}  // namespace

void run(const OpBase& op, const void* args, Stream& stream, RunOptions options) {
  const Device device = stream.device();
  const bool on_cpu = runs_cpu_code(device.kind);
  if (options.threads < 0 || (options.threads && !on_cpu))
    fail<InvalidArgument>(text(op.name) + ": threads is " + std::to_string(options.threads) +
                          (on_cpu ? ", it must not be negative" : ", it is for the CPU only"));
  if (!check_outputs(op, args, all_sizes(op, args, device), device)) return;

  const OpEntry entry = on_cpu ? OpEntry{{}, &op} : entry_of(op);
  const CudaImpl* const impl = on_cpu ? nullptr : entry.impl(device.kind);
  if (!on_cpu && !impl) fail<Unsupported>(text(op.name) + " has no implementation for " + to_string(device));
  std::uint64_t call = 0;
  if (const Chooser ask = chooser.load(std::memory_order_acquire);
      ask && options.variant < 0 && !options.threads) {
    const Chosen chosen = ask(op, args, device, stream.threads());
    if (entry.fits(args, device.kind, chosen.options.variant)) options = chosen.options, call = chosen.call;
  }
  const int variant = choose_variant(entry, args, device, options.variant);
  const bool simulated = device.kind == DeviceKind::sim;  // computes when its clock gets there
  Stream queue = options.threads ? stream.with_threads(options.threads) : stream;
  if (!stream.capturing() && !simulated) return launch_watched(op, impl, args, queue, variant, call);
  if (device.kind == DeviceKind::cuda)
    return launch(op, impl, args, queue, variant);  // a graph is watched as a whole
  const auto* bytes = static_cast<const std::byte*>(args);
  stream.submit([=, &op, copy = std::vector<std::byte>(bytes, bytes + op.args_size())] {
    Stream replay = queue;
    if (simulated)
      launch(op, impl, copy.data(), replay, variant);
    else
      launch_watched(op, impl, copy.data(), replay, variant, call);
  });
}

void infer_outputs(const OpBase& op, void* args) {
  Device device;
  for (const FieldInfo& f : op.fields())
    if (f.is_tensor() && f.is_input() && f.tensor(args).given()) device = f.tensor(args).device;
  const Dims dims = all_sizes(op, args, device);
  const DType common = op.output_dtype(args, common_dtype(op, args));
  for (const FieldInfo& f : op.fields()) {
    if (f.kind != FieldKind::out) continue;
    Tensor& t = f.tensor(args);
    void* const data = t.data;
    t = tensor(data, f.dtypes.single() ? f.dtypes.first() : common, extents_of(op, f, args, dims), device);
  }
}

Cost cost(const OpBase& op, const void* args) {
  Cost c{op.flops(args), 0, 0, op.matrix_products};
  for (const FieldInfo& f : op.fields()) {
    if (!f.is_tensor()) continue;
    if (f.is_input()) c.bytes_read += double(f.tensor(args).bytes());
    if (f.is_output()) c.bytes_written += double(f.tensor(args).bytes());
  }
  return c;
}

}  // namespace kolmo
