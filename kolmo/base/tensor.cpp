#include "kolmo/base/tensor.hpp"

namespace kolmo {

std::string to_string(Device d) {
  if (d.kind == DeviceKind::cpu) return "cpu";
  if (d.kind == DeviceKind::simt) return "simt";
  return (d.kind == DeviceKind::sim ? "sim:" : "cuda:") + std::to_string(d.index);
}

std::string shape_string(const Tensor& t) {
  if (!t.given()) return "nothing";
  std::string s = "(";
  for (int i = 0; i < t.rank; ++i) s += (i ? ", " : "") + std::to_string(t.extent[std::size_t(i)]);
  return s + ") " + std::string(to_string(t.dtype)) + " on " + to_string(t.device);
}

}  // namespace kolmo
