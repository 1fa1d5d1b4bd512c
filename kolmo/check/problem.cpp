#include "kolmo/check/problem.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string>

#include "kolmo/base/philox.hpp"
#include "kolmo/op/shape.hpp"

namespace kolmo::check {
namespace {

bool is_float(DType t) { return floats.has(t); }

std::vector<std::int64_t> extents(const Tensor& t) { return {t.extent.begin(), t.extent.begin() + t.rank}; }

bool contains(std::string_view list, std::string_view name) {
  const auto all = words(list);
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

HostTensor::HostTensor(DType dtype, const Tensor& like)
    : memory(std::size_t(like.size()) * size_of(dtype)),
      tensor(kolmo::tensor(memory.data(), dtype, extents(like))) {}

void draw(const Tensor& t, Domain domain, std::uint64_t seed, std::uint64_t stream) {
  const Philox philox(seed);
  const std::int64_t n = t.size(), row = t.rank > 0 ? t.extent[std::size_t(t.rank - 1)] : 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const Philox::Words words = philox(std::uint64_t(i), stream);
    const double u = uniform53(words.w[0], words.w[1]), v = uniform53(words.w[2], words.w[3]);
    // No bfloat16 lies between these bounds and 0 or 1, so that rounding stays inside.
    const double inside = 1.0 / 256 + u * (254.0 / 256);
    const double normal = std::sqrt(-2 * std::log1p(-u)) * std::cos(2 * std::numbers::pi * v);
    if (!is_float(t.dtype) || domain == Domain::count)
      put(t, i, std::floor(8 * u));
    else if (domain == Domain::real)
      put(t, i, normal);
    else if (domain == Domain::positive)
      put(t, i, std::exp(normal));
    else
      put(t, i, inside);
  }
  if (domain != Domain::probability) return;
  for (std::int64_t begin = 0; begin < n; begin += row) {
    long double sum = 0;
    for (std::int64_t i = begin; i < begin + row; ++i) sum += get(t, i);
    for (std::int64_t i = begin; i < begin + row; ++i) put(t, i, get(t, i) / sum);
  }
}

Problem::Problem(const OpBase& op, const CaseInfo& info, std::size_t index, std::uint64_t seed)
    : op_(&op), info_(info), args_(op.default_args()), inputs_(op.fields().size()) {
  const auto fields = op.fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldInfo& f = fields[i];
    if (f.kind == FieldKind::integer)
      for (const CaseSize& s : info.sizes)
        if (s.name == f.name) f.set_number(args(), double(s.size));
    if (f.kind == FieldKind::out) f.tensor(args()).dtype = info.dtype;
    if (!f.is_tensor() || !f.is_input() || !wants(f)) continue;
    const DType dtype = f.dtypes.single() ? f.dtypes.first() : info.dtype;
    inputs_[i] = HostTensor(dtype, kolmo::tensor(nullptr, dtype, shape_of(f)));
    if (seed) draw(inputs_[i].tensor, f.domain, seed, i);
    f.tensor(args()) = inputs_[i].tensor;
  }
  op.setup_case(index, args());
  shape_outputs();
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
  for (const std::string_view name : words(f.shape)) {
    std::int64_t size = -1;
    std::from_chars(name.data(), name.data() + name.size(), size);
    for (const CaseSize& s : info_.sizes)
      if (s.name == name) size = s.size;
    if (size >= 0)
      shape.push_back(size);
    else if (name != "...")
      fail<InvalidArgument>(std::string(op_->name) + ": case '" + std::string(info_.name) +
                            "' gives no size for '" + std::string(name) + "'");
  }
  return shape;
}

std::vector<std::string_view> Problem::sizes() const {
  std::vector<std::string_view> all;
  for (const FieldInfo& f : op_->fields()) {
    if (!f.is_tensor() || !f.is_input() || !f.tensor(args()).given()) continue;
    for (const auto name : words(f.shape))
      if (std::find(all.begin(), all.end(), name) == all.end() && (name[0] < '0' || name[0] > '9'))
        all.push_back(name);
  }
  return all;
}

void Problem::make_empty(std::string_view size) {
  for (const FieldInfo& f : op_->fields()) {
    if (!f.is_tensor() || !f.is_input() || !f.tensor(args()).given() || !contains(f.shape, size)) continue;
    Tensor& t = f.tensor(args());
    const auto names = words(f.shape);
    auto shape = extents(t);
    const std::size_t lead = shape.size() + (names[0] == "...") - names.size();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] != size) continue;
      if (size == "...")
        std::fill_n(shape.begin(), lead, 0);
      else
        shape[i + (names[0] == "..." ? lead - 1 : 0)] = 0;
    }
    t = kolmo::tensor(t.data, t.dtype, shape, t.device);
  }
  shape_outputs();
}

HostTensors expected(const OracleBase& oracle, const Problem& problem) {
  const auto fields = problem.op().fields();
  const auto* begin = static_cast<const std::byte*>(problem.args());
  std::vector<std::byte> args(begin, begin + problem.op().args_size());
  HostTensors all(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i].is_tensor() || !fields[i].is_output() || !problem.field(i).given()) continue;
    const Tensor& like = problem.field(i);
    all[i] = HostTensor(is_float(like.dtype) ? DType::f64 : like.dtype, like);
    if (fields[i].kind == FieldKind::inout)
      for (std::int64_t k = 0; k < like.size(); ++k) put(all[i].tensor, k, get(like, k));
    fields[i].tensor(args.data()) = all[i].tensor;
  }
  oracle.expected(args.data(), common_dtype(problem.op(), problem.args()));
  return all;
}

}  // namespace kolmo::check
