#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "kolmo/tune/kernel_resources.hpp"

namespace kolmo::tune {
namespace {

/// A file mapped into memory; empty on failure.
class Image {
 public:
  explicit Image(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat info {};
    if (fstat(file, &info) == 0 && info.st_size > 0) {
      void* const at = mmap(nullptr, std::size_t(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) data_ = static_cast<const char*>(at), size_ = std::size_t(info.st_size);
    }
    close(file);
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image() {
    if (data_) munmap(const_cast<char*>(data_), size_);
  }

  template <class T>
  const T* at(std::size_t offset) const {
    return reinterpret_cast<const T*>(data_ + offset);
  }
  bool is_elf() const { return size_ > sizeof(Elf64_Ehdr) && std::memcmp(data_, ELFMAG, SELFMAG) == 0; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

struct Place {
  std::string path;
  std::uintptr_t address;  // input: address; then relative to the module's load address
};

int find_module(dl_phdr_info* info, std::size_t, void* p) {
  Place& place = *static_cast<Place*>(p);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || place.address - info->dlpi_addr - segment.p_vaddr >= segment.p_memsz)
      continue;
    place.path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    place.address -= info->dlpi_addr;
    return 1;
  }
  return 0;
}

}  // namespace

Symbol symbol_of(const void* function) {
  Place place{{}, reinterpret_cast<std::uintptr_t>(function)};
  if (!dl_iterate_phdr(find_module, &place)) return {};
  const Image image(place.path.c_str());
  if (!image.is_elf()) return {};
  const auto* header = image.at<Elf64_Ehdr>(0);
  const auto* section = image.at<Elf64_Shdr>(header->e_shoff);
  for (int s = 0; s < header->e_shnum; ++s) {
    if (section[s].sh_type != SHT_SYMTAB) continue;
    const auto* symbols = image.at<Elf64_Sym>(section[s].sh_offset);
    const char* names = image.at<char>(section[section[s].sh_link].sh_offset);
    const char* file = "";
    for (std::size_t i = 0; i < section[s].sh_size / sizeof *symbols; ++i) {
      const Elf64_Sym& symbol = symbols[i];
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE) file = names + symbol.st_name;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value == place.address)
        return {names + symbol.st_name, ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ? file : ""};
    }
  }
  return {};
}

}  // namespace kolmo::tune
