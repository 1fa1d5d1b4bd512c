#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kolmo::tune {

/// A function of the running program, by its symbol; empty when the program was stripped.
struct Symbol {
  std::string name;  ///< as the linker sees it
  std::string file;  ///< the source it came from, for functions local to one
};
Symbol symbol_of(const void* function);

/// "add<float, 0>" for a symbol's "void kolmo::(anonymous namespace)::add<float, 0>(float const*, ...)".
std::string short_name(const std::string& symbol);

/// What the compiler made of one kernel for one architecture.
struct KernelResources {
  std::string entry;       ///< symbol of the kernel in device code
  std::string capability;  ///< "9.0" for sm_90 and sm_90a
  int registers = 0;       ///< per thread
  int barriers = 0;
  std::size_t shared = 0;                                    ///< static, bytes
  std::size_t stack = 0, spill_stores = 0, spill_loads = 0;  ///< bytes per thread
};

/// The kernels in what nvcc printed with -Xptxas -v; other text is passed over. When one is there twice for
/// an architecture, the later counts.
class ResourceTable {
 public:
  explicit ResourceTable(std::string_view log);

  const std::vector<KernelResources>& kernels() const { return kernels_; }
  std::vector<std::string> capabilities() const;
  /// The kernel that a host function of this or another compiler starts, whose symbol differs in how unnamed
  /// namespaces and dependent parameters are spelled; null when it is not there.
  const KernelResources* find(const Symbol& kernel, std::string_view capability) const;

 private:
  struct Key {
    std::string signature, source;  // source: of an unnamed namespace, e.g. "softmax_cu"
  };
  static Key key_of(const std::string& entry);
  const KernelResources* find(const Symbol& kernel, std::string_view capability,
                              const std::function<bool(const Key&)>& is_it) const;

  std::vector<KernelResources> kernels_;
  std::vector<Key> keys_;
};

/// Of the kernels in this build, for the architectures it was built for; empty without nvcc.
const ResourceTable& built_resources();

}  // namespace kolmo::tune
