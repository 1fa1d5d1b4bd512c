#include "kolmo/base/tensor.hpp"

namespace kolmo {

std::string to_string(Device d) {
  constexpr const char* kinds[] = {"cpu", "cuda", "simt"};
  const std::string kind = kinds[std::size_t(d.kind)];
  return d.kind == DeviceKind::cuda || d.index ? kind + ":" + std::to_string(d.index) : kind;
}

std::string shape_string(const Tensor& t) {
  if (!t.given()) return "nothing";
  std::string s = "(";
  for (int i = 0; i < t.rank; ++i) s += (i ? ", " : "") + std::to_string(t.extent[std::size_t(i)]);
  return s + ") " + std::string(to_string(t.dtype)) + " on " + to_string(t.device);
}

void no_code_for(const Tensor& t, DType wanted) {
  throw WrongDType("a tensor holds " + std::string(to_string(t.dtype)) + " and is read as " +
                       std::string(to_string(wanted)),
                   t.data, SourceLocation::current());
}
void no_code_for(DType t) {
  throw NoCode("no code for dtype " + std::string(to_string(t)), t, SourceLocation::current());
}

}  // namespace kolmo
