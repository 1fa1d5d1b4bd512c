#include "kolmo/check/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace kolmo::check {
namespace {

/// "value(0, 3)"
std::string place(std::string_view name, const Tensor& t, std::int64_t i) {
  std::string text;
  for (int d = t.rank - 1; d >= 0; --d) {
    const std::int64_t extent = t.extent[std::size_t(d)];
    text = std::to_string(i % extent) + (text.empty() ? "" : ", ") + text;
    i /= extent;
  }
  return std::string(name) + "(" + text + ")";
}

std::string number(long double v) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17Lg", v);
  return text;
}

bool holds_poison(const HostTensor& h, std::int64_t i) {
  const std::size_t size = size_of(h.tensor.dtype);
  const auto begin = h.memory.begin() + std::ptrdiff_t(i) * std::ptrdiff_t(size);
  return floats.has(h.tensor.dtype) &&
         std::all_of(begin, begin + std::ptrdiff_t(size), [](std::byte b) { return b == std::byte{0xFF}; });
}

long double error_of(long double got, long double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  const long double error = std::abs(got - want) / std::max(1.0L, std::abs(want));
  return std::isfinite(error) ? error : HUGE_VALL;
}

}  // namespace

Comparison compare(const OpBase& op, const HostTensors& got, const HostTensors& want, double tolerance) {
  Comparison result;
  std::int64_t wrong = 0, total = 0;
  for (std::size_t f = 0; f < want.size(); ++f) {
    if (!want[f].tensor.given()) continue;
    const std::string_view name = op.fields()[f].name;
    total += want[f].tensor.size();
    const bool integer = !floats.has(want[f].tensor.dtype);
    for (std::int64_t i = 0; i < want[f].tensor.size(); ++i) {
      const long double g = get(got[f].tensor, i), w = get(want[f].tensor, i), error = error_of(g, w);
      const bool unwritten = holds_poison(got[f], i);
      if (!integer && !unwritten) result.max_error = std::max(result.max_error, double(error));
      if (!unwritten && error <= (integer ? 0 : tolerance)) continue;
      if (wrong++) continue;
      result.message = place(name, want[f].tensor, i) +
                       (unwritten ? " was not written" : " is " + number(g)) + ", expected " + number(w) +
                       " within " + number(tolerance);
    }
  }
  if (wrong > 1)
    result.message +=
        "; so are " + std::to_string(wrong - 1) + " more of " + std::to_string(total) + " elements";
  return result;
}

HostTensors widened(const HostTensors& tensors) {
  HostTensors wide(tensors.size());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const Tensor& t = tensors[i].tensor;
    if (!t.given()) continue;
    wide[i] = HostTensor(floats.has(t.dtype) ? DType::f64 : t.dtype, t);
    for (std::int64_t k = 0; k < t.size(); ++k) put(wide[i].tensor, k, get(t, k));
  }
  return wide;
}

std::string bit_difference(const OpBase& op, const HostTensors& got, const HostTensors& want) {
  for (std::size_t f = 0; f < want.size(); ++f) {
    if (got[f].memory == want[f].memory) continue;
    const std::size_t size = size_of(want[f].tensor.dtype);
    std::int64_t i = 0;
    while (!std::memcmp(&got[f].memory[std::size_t(i) * size], &want[f].memory[std::size_t(i) * size], size))
      ++i;
    return place(op.fields()[f].name, want[f].tensor, i) + " is " + number(get(got[f].tensor, i)) +
           " and was " + number(get(want[f].tensor, i));
  }
  return {};
}

}  // namespace kolmo::check
