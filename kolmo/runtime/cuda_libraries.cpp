#include "kolmo/runtime/cuda_libraries.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace kolmo {
namespace {

namespace fs = std::filesystem;

std::string file_of(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map || !map->l_name) return {};
  return map->l_name;
}

/// Entries of a folder whose names begin with `start`, the highest version first.
std::vector<fs::path> entries(const fs::path& folder, const std::string& start) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(start)) found.push_back(entry.path());
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
    return strverscmp(a.filename().c_str(), b.filename().c_str()) > 0;
  });
  return found;
}

class Folders {
 public:
  void add(const fs::path& folder) {
    std::error_code ignored;
    const bool known = std::find(all_.begin(), all_.end(), folder) != all_.end();
    if (!known && fs::is_directory(folder, ignored)) all_.push_back(folder);
  }
  void add_toolkit(const fs::path& root) {
    add(root / "lib64"), add(root / "targets/x86_64-linux/lib"), add(root / "lib");
  }
  void add_python(const fs::path& root) {
    for (const fs::path& python : entries(root / "lib", "python3"))
      for (const char* package : {"cu13/lib", "cublas/lib", "cuda_nvrtc/lib"})
        add(python / "site-packages/nvidia" / package);
  }
  std::vector<fs::path> all() && { return std::move(all_); }

 private:
  std::vector<fs::path> all_;
};

template <class F>
void with_variable(const char* name, F&& f) {
  if (const char* value = std::getenv(name); value && *value) f(fs::path(value));
}

}  // namespace

std::vector<fs::path> cuda_library_folders(const fs::path& local) {
  Folders folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    with_variable(name, [&](const fs::path& root) { folders.add_toolkit(root); });
  for (const char* name : {"libcudart.so.13", "libnvrtc.so.13"})
    if (void* loaded = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) {
      folders.add(fs::path(file_of(loaded)).parent_path());
      dlclose(loaded);
    }
  with_variable("VIRTUAL_ENV", [&](const fs::path& root) { folders.add_python(root); });
  with_variable("CONDA_PREFIX", [&](const fs::path& root) {
    folders.add_python(root);
    folders.add_toolkit(root);
  });
  folders.add_toolkit(local / "cuda");
  for (const fs::path& version : entries(local, "cuda-")) folders.add_toolkit(version);
  return std::move(folders).all();
}

CudaLibrary open_cuda_library(const std::string& name) {
  CudaLibrary library{.name = name};
  const auto open = [&](const std::string& file) {
    library.handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle) library.path = file_of(library.handle);
    return library.handle != nullptr;
  };
  if (open(name)) return library;
  library.problem = name + " was not found by the dynamic loader";
  for (const fs::path& folder : cuda_library_folders()) {
    std::error_code ignored;
    const std::string file = folder / name;
    if (!fs::exists(file, ignored))
      library.problem += ", nor in " + folder.string();
    else if (open(file))
      return library.problem.clear(), library;
    else
      library.problem += std::string(", ") + dlerror();
  }
  return library;
}

}  // namespace kolmo
