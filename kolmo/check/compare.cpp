#include "kolmo/check/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kolmo::check {
namespace {

std::string number(long double v) { return fmt::format("{:.17g}", v); }

const char* part_name(bool is_complex, std::int64_t k) { return !is_complex ? "" : k % 2 ? ".im" : ".re"; }

/// Whether number i of a tensor's parts is still the NaN that Placement writes to outputs beforehand
/// (poison).
bool holds_poison(const Tensor& parts, std::int64_t i) {
  const std::size_t size = size_of(parts.dtype);
  const auto* begin = static_cast<const std::byte*>(parts.data) + std::size_t(i) * size;
  return floats.has(parts.dtype) &&
         std::all_of(begin, begin + size, [](std::byte b) { return b == std::byte{0xFF}; });
}

long double error_of(long double got, long double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  const long double error = std::abs(got - want);
  return std::isfinite(error) ? error : HUGE_VALL;
}

}  // namespace

Tolerance tolerance_of(const CaseInfo& info, std::string_view output) {
  for (const OutputTolerance& t : info.tolerances)
    if (t.output == output) return t.tolerance;
  return info.tolerance;
}

std::string place(std::string_view name, const Tensor& t, std::int64_t i) {
  std::string text;
  for (int d = t.rank - 1; d >= 0; --d) {
    const std::int64_t extent = t.extent[std::size_t(d)];
    text = std::to_string(i % extent) + (text.empty() ? "" : ", ") + text;
    i /= extent;
  }
  return std::string(name) + "(" + text + ")";
}

bool counted(const OpBase& op, const HostTensors& outputs, std::size_t f, std::int64_t i) {
  const auto fields = op.fields();
  if (fields[f].counter.empty()) return true;
  for (std::size_t c = 0; c < fields.size(); ++c) {
    const Tensor &count = outputs[c].tensor, &t = outputs[f].tensor;
    if (fields[c].name == fields[f].counter && count.given())
      return i / (t.size() / t.dim(0)) < get(count, 0);
  }
  return true;
}

namespace {

/// Compares one output, number by number.
class OutputComparison {
 public:
  OutputComparison(std::string_view name, const Tensor& got, const Tensor& want, Tolerance tolerance,
                   double factor)
      : name_(name),
        want_(want),
        got_parts_(parts(got)),
        want_parts_(parts(want)),
        width_(complexes.has(want.dtype) ? 2 : 1),
        tolerance_(inexact(want.dtype) ? tolerance : Tolerance{}),
        factor_(factor) {}

  /// Records an element that is wrong; the result's message is that of the first such element.
  void element(std::int64_t i, Comparison& result, std::int64_t& wrong) const {
    for (std::int64_t k = i * width_; k < (i + 1) * width_; ++k) {
      const long double g = get(got_parts_, k), w = get(want_parts_, k), error = error_of(g, w);
      result.finite += std::isfinite(w);
      const bool unwritten = holds_poison(got_parts_, k);
      const double allowed = std::isfinite(w) ? factor_ * tolerance_.bound(magnitude(i, w)) : 0;
      if (!unwritten && error > 0)
        result.max_error = std::max(result.max_error, allowed > 0 ? double(error / allowed) : HUGE_VAL);
      if (!unwritten && error <= allowed) continue;
      if (!wrong++)
        result.message = place(name_, want_, i) + part_name(width_ > 1, k) +
                         (unwritten ? " was not written" : " is " + number(g)) + ", expected " + number(w) +
                         " within " + number(allowed);
      return;
    }
  }

 private:
  /// The magnitude that the tolerance of element i refers to. For a complex element that is not finite it is
  /// that of its part w alone.
  double magnitude(std::int64_t i, long double w) const {
    const auto m = double(width_ < 2 ? w : std::abs(get_complex(want_, i)));
    return std::isfinite(m) ? m : double(w);
  }

  std::string_view name_;
  Tensor want_, got_parts_, want_parts_;
  std::int64_t width_;
  Tolerance tolerance_;
  double factor_;
};

}  // namespace

Comparison compare(const OpBase& op, const HostTensors& got, const HostTensors& want,
                   const CaseInfo& tolerances, double factor) {
  Comparison result;
  std::int64_t wrong = 0, total = 0;
  for (std::size_t f = 0; f < want.size(); ++f) {
    if (!want[f].tensor.given()) continue;
    const std::string_view name = op.fields()[f].name;
    const OutputComparison output(name, got[f].tensor, want[f].tensor, tolerance_of(tolerances, name),
                                  factor);
    for (std::int64_t i = 0, n = want[f].tensor.size(); i < n; ++i)
      if (counted(op, want, f, i)) output.element(i, result, wrong), ++total;
  }
  if (wrong > 1)
    result.message +=
        "; so are " + std::to_string(wrong - 1) + " more of " + std::to_string(total) + " elements";
  return result;
}

Comparison Truth::compare(const Problem& problem, const HostTensors& got, double factor) const {
  const OpBase& op = problem.op();
  if (!oracle_->judges()) return check::compare(op, got, want_, problem.info(), factor);
  const auto* begin = static_cast<const std::byte*>(problem.args());
  std::vector<std::byte> args(begin, begin + op.args_size());
  Comparison result;
  for (std::size_t f = 0; f < got.size(); ++f) {
    if (!got[f].tensor.given()) continue;
    op.fields()[f].tensor(args.data()) = got[f].tensor;
    const Tensor t = got[f].tensor, numbers = parts(t);
    for (std::int64_t k = 0, n = numbers.size(); k < n; ++k) {
      const std::int64_t i = k / (n / t.size());
      if (!counted(op, got, f, i)) continue;
      if (holds_poison(numbers, k)) return {place(op.fields()[f].name, t, i) + " was not written"};
      result.finite += std::isfinite(get(numbers, k));
    }
  }
  result.message = oracle_->judgement(problem.args(), args.data(), problem.info());
  return result;
}

HostTensors widened(const HostTensors& tensors) {
  HostTensors wide(tensors.size());
  for (std::size_t i = 0; i < wide.size(); ++i)
    if (tensors[i].tensor.given()) wide[i] = widened(tensors[i].tensor);
  return wide;
}

std::string bit_difference(const OpBase& op, const HostTensors& got, const HostTensors& want) {
  for (std::size_t f = 0; f < want.size(); ++f) {
    const auto g = got[f].bytes(), w = want[f].bytes();
    if (std::ranges::equal(g, w)) continue;
    const Tensor& t = want[f].tensor;
    const bool is_complex = complexes.has(t.dtype);
    const std::size_t size = size_of(parts(t).dtype);
    for (std::int64_t k = 0, n = parts(t).size(); k < n; ++k) {
      const std::int64_t i = is_complex ? k / 2 : k;
      if (!std::memcmp(&g[std::size_t(k) * size], &w[std::size_t(k) * size], size) ||
          !counted(op, want, f, i))
        continue;
      return place(op.fields()[f].name, t, i) + part_name(is_complex, k) + " is " +
             number(get(parts(got[f].tensor), k)) + " and was " + number(get(parts(t), k));
    }
  }
  return {};
}

}  // namespace kolmo::check
