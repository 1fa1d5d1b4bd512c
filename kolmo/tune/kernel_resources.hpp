#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kolmo::tune {

/// A function of the running program, by its symbol; empty if the program was stripped.
struct Symbol {
  std::string name;  ///< as seen by the linker
  std::string file;  ///< source file, for functions with internal linkage
};
Symbol symbol_of(const void* function);

/// Turns a symbol's "void kolmo::(anonymous namespace)::add<float, 0>(float const*, ...)" into "add<float,
/// 0>".
std::string short_name(const std::string& symbol);

/// The resources of one kernel as compiled for one architecture.
struct KernelResources {
  std::string entry;       ///< symbol of the kernel in device code
  std::string capability;  ///< "9.0" for sm_90 and sm_90a
  int registers = 0;       ///< per thread
  int barriers = 0;
  std::size_t shared = 0;                                    ///< static shared memory, bytes
  std::size_t stack = 0, spill_stores = 0, spill_loads = 0;  ///< bytes per thread
};

/// The kernels in the output of nvcc with -Xptxas -v; other text is ignored. If a kernel occurs twice for an
/// architecture, the later entry counts.
class ResourceTable {
 public:
  explicit ResourceTable(std::string_view log);

  const std::vector<KernelResources>& kernels() const { return kernels_; }
  std::vector<std::string> capabilities() const;
  /// The kernel that a host function starts; null if it is not in the table. The host function may come from
  /// another compiler, which spells unnamed namespaces and dependent parameters differently.
  const KernelResources* find(const Symbol& kernel, std::string_view capability) const;

 private:
  struct Key {
    std::string signature, source;  // `source` is that of an unnamed namespace, e.g. "softmax_cu"
  };
  static Key key_of(const std::string& entry);
  const KernelResources* find(const Symbol& kernel, std::string_view capability,
                              const std::function<bool(const Key&)>& is_it) const;

  std::vector<KernelResources> kernels_;
  std::vector<Key> keys_;
};

/// The kernels in this build, for the architectures it was built for; empty without nvcc.
const ResourceTable& built_resources();

}  // namespace kolmo::tune
