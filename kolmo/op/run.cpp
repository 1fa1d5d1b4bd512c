#include <string>

#include "kolmo/op/about_call.hpp"
#include "kolmo/op/bind.hpp"
#include "kolmo/op/chooser.hpp"
#include "kolmo/op/inside.hpp"
#include "kolmo/op/numerics.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/op/span.hpp"
#include "kolmo/runtime/memory/tracker.hpp"
#include "kolmo/runtime/monitor.hpp"
#include "kolmo/runtime/trace.hpp"

namespace kolmo {
namespace {

std::string text(std::string_view s) { return std::string(s); }

Dims all_sizes(const OpBase& op, const void* args, Device device) {
  return named(op, args, [&] {
    Dims dims = bind_inputs(op, args, device);
    op.check(args);
    op.sizes(args, dims);
    return dims;
  });
}

/// Throws if an output shares memory with another tensor, unless the operator works in place and both are the
/// same tensor.
void check_aliasing(const OpBase& op, const FieldInfo& out, const void* args) {
  const Tensor& t = out.tensor(args);
  for (const FieldInfo& f : op.fields()) {
    if (!f.is_tensor() || f.name == out.name || !f.tensor(args).given()) continue;
    const Tensor& other = f.tensor(args);
    if (!span_of(t).overlaps(span_of(other))) continue;
    const bool same = other.data == t.data && other.bytes() == t.bytes() && other.contiguous();
    if (!(op.in_place && same && f.kind == FieldKind::in && out.kind == FieldKind::out &&
          f.shape == out.shape))
      fail<InvalidArgument>(text(op.name) + ": " + text(out.name) + " overlaps " + text(f.name) +
                            " in memory");
  }
}

bool is_output(const Tensor& t, DType dtype, const Extents& extents, Device device) {
  if (!t.given() || t.dtype != dtype || t.device != device || t.rank != extents.rank) return false;
  for (int d = 0; d < t.rank; ++d)
    if (t.dim(d) != extents[std::size_t(d)]) return false;
  return t.contiguous();
}

/// Checks the outputs, and returns whether there is anything to write.
bool check_outputs(const OpBase& op, const void* args, Dims dims, Device device) {
  bool work = false;
  for (const FieldInfo& f : op.fields()) {
    if (!f.is_tensor() || !f.is_output()) continue;
    const Tensor& t = f.tensor(args);
    if (!t.given() && f.optional) continue;
    if (f.kind == FieldKind::out) {
      const Extents extents = named(op, args, [&] { return extents_of(op, f, args, dims); });
      const DType dtype = bind_output_dtype(f, args, dims);
      check_countable(op, f, t.shape(), t.dtype);
      check_countable(op, f, {extents.begin(), extents.size()}, dtype);
      if (t.given() && !t.data && t.size())
        fail<InvalidArgument>(text(op.name) + ": " + text(f.name) + " has no memory");
      if (!is_output(t, dtype, extents, device))
        fail<InvalidArgument>(text(op.name) + ": " + text(f.name) + " is " + shape_string(t) +
                              ", expected contiguous " +
                              shape_string(tensor(nullptr, dtype, extents, device)));
    }
    check_aliasing(op, f, args);
    work |= t.size() != 0;
  }
  return work;
}

[[noreturn]] void refuse_variant(const OpEntry& entry, const void* args, Device device, int asked) {
  const std::vector<Variant> rows = entry.variants(device.kind);
  if (asked >= int(rows.size()))
    fail<InvalidArgument>(text(entry.op->name) + ": variant " + std::to_string(asked) +
                          " does not exist on " + to_string(device) + ", which has " +
                          std::to_string(rows.size()));
  std::string fitting;
  for (const int v : entry.fitting(args, device.kind))
    fitting += (fitting.empty() ? "" : ", ") + text(rows[std::size_t(v)].name);
  fail<InvalidArgument>(text(entry.op->name) + ": variant '" + text(rows[std::size_t(asked)].name) +
                        "' does not fit these arguments on " + to_string(device) + "; what fits: " + fitting);
}

int choose_variant(const OpEntry& entry, const void* args, Device device, int asked) {
  const int variant = asked >= 0 ? asked : entry.default_variant(args, device.kind);
  if (asked < 0 && variant < 0)
    fail<Unsupported>(text(entry.op->name) + ": no variant fits these arguments on " + to_string(device));
  if (asked >= 0 && !entry.fits(args, device.kind, asked)) refuse_variant(entry, args, device, asked);
  return variant;
}

/// Drops the faults that a launch reported before it threw. The status may be read after each launch, and
/// then the next launch would be blamed for them.
void forget_faults(Stream& stream) {
  if (!in_host_memory(stream.device())) return;
  try {
    stream.data_status().check();
  } catch (const InvalidArgument&) {}
}

void launch(const OpBase& op, const ImplBase& impl, const void* args, Stream& stream, int variant) {
  const memory::Tag tag(op.name);
  const Site site{stream.device(), variant, stream.threads()};
  named(op, args, [&] {
    const Buffer workspace(impl.workspace(args, site), stream);
    stream.data_status().begin(op.name, op.faults);
    const auto queue = [&] { impl.launch(args, Arena(workspace.data()), stream, variant); };
    try {
      if (site.device.kind == DeviceKind::cuda)
        stream.submit([&queue] { queue(); });  // makes the device current in this thread
      else
        queue();
    } catch (...) {
      forget_faults(stream);
      throw;
    }
    if (in_host_memory(site.device)) stream.data_status().check();
  });
}

void launch_watched(const OpBase& op, const ImplBase& impl, const void* args, Stream& stream, int variant,
                    std::uint64_t call) {
  const bool trap =
      numerics::checked.load(std::memory_order_relaxed) && numerics::first_input(op, args, stream).empty();
  {
    const monitor::Scope scope(op.name, stream, [&] {
      const Cost c = cost(op, args);
      return monitor::Work{c.flops, c.bytes_read + c.bytes_written, common_dtype(op, args) == DType::f64,
                           call, trace::active() ? about_call(op, args, c, stream.device()) : std::string()};
    });
    launch(op, impl, args, stream, variant);
  }
  if (trap) numerics::check_outputs(op, args, stream);
}

}  // namespace

void run(const OpEntry& entry, const void* args, Stream& stream, RunOptions options) {
  const OpBase& op = *entry.op;
  const Device device = stream.device();
  const bool on_cpu = device.kind == DeviceKind::cpu;
  if (options.variant < -1)
    fail<InvalidArgument>(text(op.name) + ": variant is " + std::to_string(options.variant) +
                          ", it must be a row's number, or -1 for the default");
  if (options.threads < 0 || (options.threads && !on_cpu))
    fail<InvalidArgument>(text(op.name) + ": threads is " + std::to_string(options.threads) +
                          (on_cpu ? ", it must not be negative" : ", it is for the CPU only"));
  if (!check_outputs(op, args, all_sizes(op, args, device), device)) return;

  const ImplBase* const impl = entry.impl(device.kind);
  if (!impl) fail<Unsupported>(text(op.name) + ": has no implementation for " + to_string(device));
  std::uint64_t call = 0;
  if (const Chooser ask = chooser.load(std::memory_order_acquire);
      ask && options.variant < 0 && !options.threads) {
    const Chosen chosen = ask(op, args, device, stream.threads());
    if (entry.fits(args, device.kind, chosen.options.variant)) options = chosen.options, call = chosen.call;
  }
  const int variant = choose_variant(entry, args, device, options.variant);
  const bool deferred = stream.deferred();
  Stream queue = options.threads ? stream.with_threads(options.threads) : stream;
  if (!stream.capturing() && !deferred) return launch_watched(op, *impl, args, queue, variant, call);
  // A graph is monitored as a whole, so its launches are not.
  if (device.kind == DeviceKind::cuda) return launch(op, *impl, args, queue, variant);
  const auto* bytes = static_cast<const std::byte*>(args);
  stream.submit([=, &op, copy = std::vector<std::byte>(bytes, bytes + op.args_size())] {
    Stream replay = queue;
    if (deferred)
      launch(op, *impl, copy.data(), replay, variant);
    else
      launch_watched(op, *impl, copy.data(), replay, variant, call);
  });
}

void run(const OpBase& op, const void* args, Stream& stream, RunOptions options) {
  run(entry_of(op), args, stream, options);
}

void run_alias(const OpBase& op, const AliasInfo& alias, void* args, Stream& stream, RunOptions options) {
  for (const Binding& b : alias.binds) b.apply(args);
  run(entry_of(op, alias), args, stream, options);
}

void infer_outputs(const OpBase& op, void* args, Device device) {
  for (const FieldInfo& f : op.fields())
    if (f.is_tensor() && f.is_input() && f.tensor(args).given()) device = f.tensor(args).device;
  Dims dims = all_sizes(op, args, device);
  for (const FieldInfo& f : op.fields()) {
    if (f.kind != FieldKind::out) continue;
    Tensor& t = f.tensor(args);
    const Extents extents = named(op, args, [&] { return extents_of(op, f, args, dims); });
    const DType dtype = bind_output_dtype(f, args, dims);
    check_countable(op, f, {extents.begin(), extents.size()}, dtype);
    t = tensor(t.data, dtype, extents, device);
  }
}

/// The row of an operator that runs inside another. Its layout and its launch choose the same one.
static int inside_row(const OpEntry& entry, const void* args, DeviceKind kind) {
  const int row = entry.default_variant(args, kind);
  if (row < 0) fail<Unsupported>(text(entry.op->name) + " cannot run inside another operator here");
  return row;
}

void lay_inside(const OpBase& op, const void* args, Arena& arena, const Site& site) {
  const OpEntry& entry = entry_of(op);
  const DeviceKind kind = site.device.kind;
  const int row = inside_row(entry, args, kind);
  entry.impl(kind)->lay(arena, args, {site.device, row, site.threads});
}

void run_inside(const OpBase& op, const void* args, Arena& arena, Stream& stream) {
  const OpEntry& entry = entry_of(op);
  const DeviceKind kind = stream.device().kind;
  const int row = inside_row(entry, args, kind);
  const ImplBase& impl = *entry.impl(kind);
  const Arena scratch = arena;
  impl.lay(arena, args, {stream.device(), row, stream.threads()});
  struct OuterStatus {
    Stream& stream;
    Status status = stream.status();
    ~OuterStatus() { stream.data_status().current = status; }
  } const outer{stream};
  stream.data_status().begin(op.name, op.faults);
  impl.launch(args, scratch, stream, row);
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
