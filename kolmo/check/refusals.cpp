#include "kolmo/check/refusals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kolmo/check/placement.hpp"
#include "kolmo/op/bind.hpp"

namespace kolmo::check {
namespace {

void expect_named(const OpBase& op, const InvalidArgument& e, const std::string& what) {
  expect(std::string_view(e.what()).starts_with(std::string(op.name) + ":"),
         what + ": the message does not start with the operator's name: " + e.what());
}

DType outside(DTypes accepted) {
  for (const DType t : all_dtypes)
    if (!accepted.has(t)) return t;
  return DType::f64;
}

/// Changes one argument at a time and expects a refusal.
class Refusals {
 public:
  Refusals(const OpEntry& entry, const void* args, Stream& stream)
      : entry_(entry), op_(*entry.op), right_(args), stream_(stream) {}

  void tensor(const FieldInfo& f) {
    const Tensor right = f.tensor(right_);
    if (!f.optional) expect_refused(f, Tensor{}, "missing");
    if (!right.given()) return;
    Tensor t = right;
    if (t.size()) t.data = nullptr, expect_refused(f, t, "without memory");
    t = right, t.device = {DeviceKind::cuda, 99};
    expect_refused(f, t, "on another device");
    if (t = right, t.dtype = outside(f.dtypes); !f.dtypes.has(t.dtype))
      expect_refused(f, t, "of a wrong dtype");
    if (f.kind == FieldKind::out || used_elsewhere(f, right)) shrink(f, right);
    if (t = right, !f.any_strides && stretch(t)) expect_refused(f, t, "not contiguous");
    wrong_rank(f, right);
  }

  void number(const FieldInfo& f) {
    const auto refuse = [&](Value value, const char* how) {
      auto args = copy();
      f.set_value(args.data(), value);
      expect_refused(args.data(), std::string(f.name) + how);
    };
    constexpr auto least = std::numeric_limits<std::int64_t>::min(),
                   most = std::numeric_limits<std::int64_t>::max();
    switch (f.kind) {
      case FieldKind::choice:
        refuse(Value::of(ValueKind::choice, -1), " too small");
        refuse(Value::of(ValueKind::choice, std::int64_t(f.choices.size())), " too large");
        break;
      case FieldKind::integer:
        if (f.min.integer > least) refuse(Value::of(f.min.integer - 1), " too small");
        if (f.max.integer < most) refuse(Value::of(f.max.integer + 1), " too large");
        break;
      case FieldKind::natural:
        if (f.min.natural > 0) refuse(Value::of(f.min.natural - 1), " too small");
        if (f.max.natural + 1 > 0) refuse(Value::of(f.max.natural + 1), " too large");
        break;
      case FieldKind::list:
        if (f.min.integer > least) refuse(Value::of(Integers{f.min.integer - 1}), " with an item too small");
        if (f.max.integer < most) refuse(Value::of(Integers{f.max.integer + 1}), " with an item too large");
        break;
      case FieldKind::real: {
        const auto step = [](double bound) { return std::max(1.0, std::abs(bound) * 1e-6); };
        if (std::isfinite(f.min.real)) refuse(Value::of(f.min.real - step(f.min.real)), " too small");
        if (std::isfinite(f.max.real)) refuse(Value::of(f.max.real + step(f.max.real)), " too large");
        refuse(Value::of(NAN), " not a number");
        break;
      }
      default:
        break;
    }
  }

 private:
  std::vector<std::byte> copy() const {
    const auto* begin = static_cast<const std::byte*>(right_);
    return {begin, begin + op_.args_size()};
  }

  void expect_refused(const FieldInfo& f, const Tensor& wrong, const char* how) {
    auto args = copy();
    f.tensor(args.data()) = wrong;
    expect_refused(args.data(), std::string(f.name) + " " + how);
  }

  void expect_refused(const void* args, const std::string& what) {
    try {
      run(entry_, args, stream_);
    } catch (const InvalidArgument& e) {
      return expect_named(op_, e, what);
    } catch (const std::exception& e) {
      fail<Error>(what + " is not refused as an invalid argument: " + e.what());
    }
    fail<Error>(what + " is not refused");
  }

  /// Whether another input has a size of the same name as the first size of `t`, so that the two can
  /// disagree.
  bool used_elsewhere(const FieldInfo& f, const Tensor& t) const {
    if (f.shape.count == 0) return false;
    const bool no_batch = f.shape.batch == 0 && t.rank < f.shape.count;
    if (no_batch && f.shape.count == 1) return false;
    const ShapeWord& word = f.shape.words[no_batch];
    if (word.number()) return true;
    const std::string_view first = word.name;
    for (const FieldInfo& other : op_.fields()) {
      if (!other.is_tensor() || !other.is_input() || other.name == f.name || !other.tensor(right_).given())
        continue;
      if (!word.broadcast && other.shape.has(first)) return true;
    }
    return false;
  }

  void shrink(const FieldInfo& f, const Tensor& right) {
    if (right.rank < 1 || right.extent[0] < 2) return;
    Tensor t = right;
    --t.extent[0];
    expect_refused(f, t, "too short");
  }

  static bool stretch(Tensor& t) {
    if (t.rank < 1 || t.extent[std::size_t(t.rank - 1)] < 2 || !t.size()) return false;
    for (int i = 0; i < t.rank; ++i) t.stride[std::size_t(i)] *= 2;
    return true;
  }

  void wrong_rank(const FieldInfo& f, const Tensor& right) {
    Tensor t = right;
    if (f.shape.batch < 0) {
      if (t.rank == max_rank) return;
      std::rotate(t.extent.begin(), t.extent.end() - 1, t.extent.end());
      std::rotate(t.stride.begin(), t.stride.end() - 1, t.stride.end());
      t.extent[0] = 1, t.stride[0] = t.size(), ++t.rank;
    } else {
      if (f.shape.count == 1) return;  // any rank is right
      t.rank = f.shape.count - 2;
    }
    expect_refused(f, t, "of a wrong rank");
  }

  const OpEntry& entry_;
  const OpBase& op_;
  const void* right_;
  Stream& stream_;
};

}  // namespace

void check_refusals(const OpEntry& entry, const Problem& problem, Stream& stream) {
  const OpBase& op = problem.op();
  Placement placed(problem, stream);
  Refusals refusals(entry, placed.args(), stream);
  for (const FieldInfo& f : op.fields()) {
    if (f.is_tensor())
      refusals.tensor(f);
    else
      refusals.number(f);
  }
  expect(placed.untouched(placed.collect(stream)), "a refused call wrote to memory");
}

void check_empty(const OpEntry& entry, const CaseInfo& info, std::size_t index, std::string_view name,
                 Stream& stream, RunOptions options) {
  const OpBase& op = *entry.op;
  Problem problem(op, info, index);
  const auto what = "with " + std::string(name) + " = 0";
  try {
    problem.make_empty(name);
  } catch (const InvalidArgument& e) {
    return expect_named(op, e, what);
  }
  Placement placed(problem, stream);
  bool refused = false;
  try {
    run(entry, placed.args(), stream, options);
  } catch (const InvalidArgument& e) {
    expect_named(op, e, what);
    refused = true;
  } catch (const std::exception& e) {
    fail<Error>(what + ": " + e.what());
  }
  const Outcome outcome = placed.collect(stream);
  expect(outcome.damage.empty(), what + " it wrote to" + outcome.damage);
  expect(!refused || placed.untouched(outcome), what + " it refused after writing to its outputs");
}

bool can_be_empty(const Problem& problem, std::string_view name) {
  const auto fields = problem.op().fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i].is_tensor() || !fields[i].is_input() || !problem.field(i).given()) continue;
    const FieldInfo& f = fields[i];
    if (f.shape.has(name) || inexact(problem.field(i).dtype)) continue;
    if (!f.below.empty() ? f.below == name : f.domain == Domain::real || f.domain == Domain::sorted)
      return false;
  }
  return true;
}

}  // namespace kolmo::check
