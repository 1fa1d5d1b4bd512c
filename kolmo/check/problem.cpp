#include "kolmo/check/problem.hpp"

#include <algorithm>
#include <string>

#include "kolmo/check/placement.hpp"
#include "kolmo/op/bind.hpp"

namespace kolmo::check {
namespace {

std::vector<std::int64_t> extents(const Tensor& t) { return {t.extent.begin(), t.extent.begin() + t.rank}; }

/// Whether the elements are indices or offsets of something whose size is known.
bool bounded(Domain domain) { return domain == Domain::index || domain == Domain::offsets; }

bool contains(std::string_view list, std::string_view name) {
  const auto all = words(list);
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

Problem::Problem(const OpBase& op, const CaseInfo& info, std::size_t index, std::uint64_t seed)
    : op_(&op), info_(info), args_(op.default_args()), inputs_(op.fields().size()) {
  draw_inputs(seed);
  op.setup_case(index, args(), seed);
  shape_outputs();
}

Problem::Problem(const OpBase& op, const CaseInfo& info, const std::function<void(void*)>& set,
                 std::uint64_t seed)
    : op_(&op), info_(info), args_(op.default_args(info.alias)), inputs_(op.fields().size()) {
  set(args());
  draw_inputs(seed);
  shape_outputs();
}

void Problem::draw_inputs(std::uint64_t seed) {
  const auto fields = op_->fields();
  const AliasInfo* alias = nullptr;
  for (const AliasInfo& a : op_->aliases())
    if (a.name == info_.alias) alias = &a;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldInfo& f = fields[i];
    if (f.kind == FieldKind::integer)
      for (const CaseSize& s : info_.sizes)
        if (s.name == f.name) f.set_value(args(), Value::of(s.size));
    if (f.kind == FieldKind::out) f.tensor(args()).dtype = dtype_of(f);
    if (!f.is_tensor() || !f.is_input() || !wants(f)) continue;
    inputs_[i] = Array(dtype_of(f), shape_of(f));
    const Domain domain = f.domain == Domain::real && alias && alias->domain ? *alias->domain : f.domain;
    // Fields that count or hold offsets get their numbers even where others are filled with zeros.
    const bool counts = domain == Domain::ascending || domain == Domain::offsets;
    if (seed || counts) draw(inputs_[i].tensor, domain, seed, i, bounded(domain) ? bound_of_index(f) : 0);
    f.tensor(args()) = inputs_[i].tensor;
  }
}

void Problem::set_options(const std::function<void(void*)>& set) {
  set(args());
  shape_outputs();
}

void Problem::shape_outputs() {
  infer_outputs(*op_, args());
  for (const FieldInfo& f : op_->fields())
    if (f.kind == FieldKind::out && !wants(f)) f.tensor(args()) = Tensor{};
}

bool Problem::wants(const FieldInfo& f) const { return !f.optional || contains(info_.optional, f.name); }

std::vector<std::int64_t> Problem::shape_of(const FieldInfo& f) const {
  std::vector<std::int64_t> shape;
  for (const ShapeWord& w : f.shape) {
    std::int64_t size = w.number() ? 0 : -1;
    for (const CaseSize& s : info_.sizes)
      if (s.name == w.name) size = s.size;
    if (size >= 0)
      shape.push_back(size + w.offset);
    else if (!w.batch())
      fail<InvalidArgument>(std::string(op_->name) + ": case '" + std::string(info_.name) +
                            "' gives no size for '" + std::string(w.name) + "'");
  }
  return shape;
}

/// The upper bound of the indices in a field: the size given by the case, or by an option.
std::int64_t Problem::bound_of_index(const FieldInfo& f) const {
  for (const CaseSize& s : info_.sizes)
    if (s.name == f.below) return s.size;
  for (const FieldInfo& o : op_->fields())
    if (o.kind == FieldKind::integer && o.name == f.below) return o.value(args()).integer;
  fail<InvalidArgument>(std::string(op_->name) + ": case '" + std::string(info_.name) + "' gives no size '" +
                        std::string(f.below) + "', which " + std::string(f.name) + " is below");
}

DType Problem::dtype_of(const FieldInfo& f) const {
  if (f.dtypes.single()) return f.dtypes.first();
  DType bound = f.dtypes.variable == "T" ? info_.dtype : f.dtypes.first();
  for (const CaseDType& d : info_.dtypes)
    if (d.variable == f.dtypes.variable) bound = d.dtype;
  return f.dtypes.real_part ? real_of(bound) : bound;
}

std::vector<std::string_view> Problem::sizes() const {
  std::vector<std::string_view> all;
  for (const FieldInfo& f : op_->fields()) {
    if (!f.is_tensor() || !f.is_input() || !f.tensor(args()).given()) continue;
    for (const ShapeWord& w : f.shape)
      if (!w.number() && std::find(all.begin(), all.end(), w.name) == all.end()) all.push_back(w.name);
  }
  return all;
}

void Problem::make_empty(std::string_view size) {
  for (const FieldInfo& f : op_->fields()) {
    if (!f.is_tensor() || !f.is_input() || !f.tensor(args()).given() || !f.shape.has(size)) continue;
    Tensor& t = f.tensor(args());
    auto shape = extents(t);
    const int spare = t.rank - f.shape.named();
    std::size_t d = 0;
    for (const ShapeWord& w : f.shape) {
      const std::size_t width = w.batch() ? std::size_t(spare) : 1;
      if (w.name == size)
        std::fill_n(shape.begin() + std::ptrdiff_t(d), width, std::max<std::int64_t>(0, w.offset));
      d += width;
    }
    t = kolmo::tensor(t.data, t.dtype, shape, t.device);
  }
  shape_outputs();
}

bool in_place_pair(const Problem& problem, std::size_t output, std::size_t input) {
  const FieldInfo &o = problem.op().fields()[output], &i = problem.op().fields()[input];
  if (o.kind != FieldKind::out || i.kind != FieldKind::in || !(o.shape == i.shape)) return false;
  const Tensor &out = problem.field(output), &in = problem.field(input);
  return in.given() && out.given() && in.dtype == out.dtype && in.rank == out.rank && in.extent == out.extent;
}

static DType widest(DType t) { return floats.has(t) ? DType::f64 : complexes.has(t) ? DType::c128 : t; }

Array widened(const Tensor& t) {
  Array wide(widest(t.dtype), t.shape());
  const Tensor from = parts(t), to = parts(wide.tensor);
  for (std::int64_t k = 0; k < from.size(); ++k) put(to, k, get(from, k));
  return wide;
}

static HostTensors predicted(const OracleBase& oracle, const Problem& problem, Poison poison) {
  const auto fields = problem.op().fields();
  const auto* begin = static_cast<const std::byte*>(problem.args());
  std::vector<std::byte> args(begin, begin + problem.op().args_size());
  HostTensors all(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i].is_tensor() || !fields[i].is_output() || !problem.field(i).given()) continue;
    const Tensor& like = problem.field(i);
    const bool changed = fields[i].kind == FieldKind::inout;
    all[i] = changed ? widened(like) : Array(widest(like.dtype), like.shape());
    if (!changed) std::ranges::fill(all[i].bytes(), poison_byte(poison, like.dtype));
    fields[i].tensor(args.data()) = all[i].tensor;
  }
  oracle.expected(args.data(), common_dtype(problem.op(), problem.args()));
  return all;
}

HostTensors expected(const OracleBase& oracle, const Problem& problem) {
  const OpBase& op = problem.op();
  if (oracle.judges()) return HostTensors(op.fields().size());
  HostTensors want = predicted(oracle, problem, Poison::nan);
  // The poison may also be a right result by chance. Another poison tells.
  if (!unwritten(op, want).empty()) {
    const HostTensors again = predicted(oracle, problem, Poison::large);
    if (const std::string forgotten = unwritten(op, want, &again); !forgotten.empty())
      fail<Error>("the oracle: " + forgotten);
  }
  return want;
}

}  // namespace kolmo::check
