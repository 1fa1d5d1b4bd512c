#include "simt/symbols.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

namespace simt {
namespace {

/// The symbol table of an ELF file, mapped into memory.
class SymbolTable {
 public:
  explicit SymbolTable(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (file < 0) return;
    if (!fstat(file, &info) && info.st_size > 0) {
      void* image = mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (image != MAP_FAILED)
        image_ = static_cast<const char*>(image), size_ = static_cast<std::size_t>(info.st_size);
    }
    close(file);
  }
  ~SymbolTable() {
    if (image_) munmap(const_cast<char*>(image_), size_);
  }
  SymbolTable(const SymbolTable&) = delete;

  /// Calls f(symbol, name) for every symbol of `type`.
  template <class F>
  void for_each(unsigned type, F f) const {
    if (!image_ || size_ < sizeof(Elf64_Ehdr) || std::memcmp(image_, ELFMAG, SELFMAG) != 0) return;
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image_);
    const auto* section = reinterpret_cast<const Elf64_Shdr*>(image_ + header->e_shoff);
    for (int s = 0; s < header->e_shnum; ++s) {
      if (section[s].sh_type != SHT_SYMTAB) continue;
      const auto* symbol = reinterpret_cast<const Elf64_Sym*>(image_ + section[s].sh_offset);
      const char* names = image_ + section[section[s].sh_link].sh_offset;
      for (std::size_t i = 0; i < section[s].sh_size / sizeof *symbol; ++i)
        if (ELF64_ST_TYPE(symbol[i].st_info) == type && symbol[i].st_shndx != SHN_UNDEF)
          f(symbol[i], names + symbol[i].st_name);
    }
  }

 private:
  const char* image_ = nullptr;
  std::size_t size_ = 0;
};

/// Calls f(file, number, info) for the program and every shared library loaded.
template <class F>
void for_each_module(F f) {
  std::pair<F*, std::size_t> state{&f, 0};
  const auto visit = [](dl_phdr_info* info, std::size_t, void* p) {
    auto& [f, number] = *static_cast<decltype(state)*>(p);
    (*f)(number ? info->dlpi_name : "/proc/self/exe", number, *info);
    ++number;
    return 0;
  };
  dl_iterate_phdr(visit, &state);
}

// A shared variable as the symbol table lists it. `offset` lies in its module's thread-local memory, and `room` is the
// distance to the next symbol.
struct Variable {
  enum Kind { guard, variable, init_flag } kind;
  std::size_t module, offset, size, room;
  std::string function;
};

// Local variables are called _ZZ<function>E<digits><variable>. `_ZGVZ...` is the initialisation flag of
// `_ZZ...`.
constexpr std::string_view guard_name = "simt_guard_";
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The longest part before <digits><variable> that `is_function` accepts; empty if there is none.
template <class F>
std::string_view function_part(std::string_view name, F is_function) {
  for (std::size_t i = name.size() - 1; i > 0; --i)
    if (name[i - 1] == 'E' && is_digit(name[i]) && is_function(name.substr(0, i))) return name.substr(0, i);
  return {};
}

void read_variables(const char* path, std::size_t module, std::vector<Variable>& out) {
  struct Symbol {
    std::size_t size;
    std::string name;
  };
  std::map<std::size_t, Symbol> by_offset;
  std::set<std::string, std::less<>> functions;
  SymbolTable(path).for_each(STT_TLS, [&](const Elf64_Sym& s, std::string_view name) {
    by_offset[s.st_value] = {s.st_size, std::string(name)};
    if (const auto mark = name.find(guard_name); mark != name.npos)
      functions.emplace(function_part(name.substr(0, mark), [](std::string_view) { return true; }));
  });
  for (auto it = by_offset.begin(); it != by_offset.end(); ++it) {
    const auto& [size, full_name] = it->second;
    const bool flag = full_name.starts_with("_ZGVZ");
    const std::string name = flag ? "_Z" + full_name.substr(4) : full_name;
    const auto function = function_part(name, [&](std::string_view f) { return functions.contains(f); });
    if (function.empty()) continue;
    const bool guard = name.find(guard_name) != name.npos;
    const auto next = std::next(it);
    const std::size_t room = next == by_offset.end() ? size : next->first - it->first;
    out.push_back({flag    ? Variable::init_flag
                   : guard ? Variable::guard
                           : Variable::variable,
                   module, it->first, size, room, std::string(function)});
  }
}

const std::vector<Variable>& shared_variables() {
  static const std::vector<Variable> all = [] {
    std::vector<Variable> found;
    for_each_module([&](const char* path, std::size_t module, const dl_phdr_info& info) {
      if (info.dlpi_tls_modid) read_variables(path, module, found);
    });
    return found;
  }();
  return all;
}

}  // namespace

std::vector<SharedScope> shared_scopes() {
  std::vector<char*> base;
  for_each_module([&](const char*, std::size_t, const dl_phdr_info& info) {
    base.push_back(static_cast<char*>(info.dlpi_tls_data));
  });
  std::map<std::pair<std::size_t, std::string_view>, SharedScope> scopes;
  for (const Variable& v : shared_variables()) {
    if (v.module >= base.size() || !base[v.module]) continue;
    SharedScope& scope = scopes[{v.module, v.function}];
    char* at = base[v.module] + v.offset;
    switch (v.kind) {
      case Variable::guard:
        scope.guards.push_back(at);
        break;
      case Variable::init_flag:
        scope.init_flags.push_back({at, v.size});
        break;
      case Variable::variable:
        scope.variables.push_back({at, std::min(v.room, (v.size + 7) / 8 * 8)});
        if (v.room > v.size)
          scope.padding.push_back({at + v.size, std::min<std::size_t>(v.room - v.size, 64)});
        break;
    }
  }
  std::vector<SharedScope> result;
  for (auto& [key, scope] : scopes) result.push_back(std::move(scope));
  return result;
}

std::string function_name(const void* address) {
  std::string mangled;
  for_each_module([&](const char* path, std::size_t, const dl_phdr_info& info) {
    const auto offset = reinterpret_cast<std::uintptr_t>(address) - info.dlpi_addr;
    const bool inside =
        std::any_of(info.dlpi_phdr, info.dlpi_phdr + info.dlpi_phnum, [&](const auto& segment) {
          return segment.p_type == PT_LOAD && offset - segment.p_vaddr < segment.p_memsz;
        });
    if (!inside) return;
    SymbolTable(path).for_each(STT_FUNC, [&](const Elf64_Sym& s, const char* name) {
      if (s.st_value == offset) mangled = name;
    });
  });
  int status = -1;
  char* demangled =
      mangled.empty() ? nullptr : abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (!demangled) {
    char text[32];
    std::snprintf(text, sizeof text, "at %p", address);
    return mangled.empty() ? text : mangled;
  }
  std::string name = demangled;
  std::free(demangled);
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (std::size_t at; (at = name.find(unnamed)) != name.npos;) name.erase(at, unnamed.size());
  if (name.starts_with("void ")) name.erase(0, 5);
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    depth += (name[i] == '<') - (name[i] == '>');
    if (name[i] == '(' && depth == 0) name.resize(i);
  }
  return name;
}

}  // namespace simt
