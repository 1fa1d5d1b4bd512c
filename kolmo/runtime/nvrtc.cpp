#include "kolmo/runtime/nvrtc.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "kolmo/base/error.hpp"
#include "kolmo/runtime/cuda_libraries.hpp"

namespace kolmo {
namespace {

using Program = void*;

/// The functions of NVRTC that are used; their signatures are those of nvrtc.h.
struct Nvrtc {
  std::string folder;  ///< where it was found, empty if the loader found it
  int (*create)(Program*, const char* source, const char* name, int, const char* const*, const char* const*);
  int (*destroy)(Program*);
  int (*compile)(Program, int, const char* const* options);
  int (*add_name)(Program, const char* expression);
  int (*lowered_name)(Program, const char* expression, const char** name);
  int (*log_size)(Program, std::size_t*);
  int (*log)(Program, char*);
  int (*cubin_size)(Program, std::size_t*);
  int (*cubin)(Program, char*);
  const char* (*error_string)(int);
};

void* open_in(const std::filesystem::path& folder) {
  std::error_code ignored;
  void* library = nullptr;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    files.push_back(entry.path());
  std::sort(files.rbegin(), files.rend());
  const auto is = [](const std::filesystem::path& file, const char* start) {
    return file.filename().string().starts_with(start) && file.string().find(".alt.") == std::string::npos;
  };
  // NVRTC loads its second library by name alone, so that library must be loaded first.
  for (const auto& file : files)
    if (is(file, "libnvrtc-builtins.so")) dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  for (const auto& file : files)
    if (!library && is(file, "libnvrtc.so")) library = dlopen(file.c_str(), RTLD_NOW);
  return library;
}

void* open_library(std::string& folder) {
  if (const char* given = std::getenv("KOLMO_NVRTC"); given && *given)
    if (void* library = open_in(given)) return folder = given, library;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
    if (void* library = dlopen(name, RTLD_NOW)) return folder.clear(), library;
  for (const auto& path : cuda_library_folders())
    if (void* library = open_in(path)) return folder = path, library;
  return folder.clear(), nullptr;
}

const Nvrtc* nvrtc() {
  static const Nvrtc* const opened = []() -> const Nvrtc* {
    static Nvrtc n;
    void* const library = open_library(n.folder);
    if (!library) return nullptr;
    bool complete = true;
    const auto load = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      complete = complete && function;
    };
    load(n.create, "nvrtcCreateProgram"), load(n.destroy, "nvrtcDestroyProgram");
    load(n.compile, "nvrtcCompileProgram"), load(n.add_name, "nvrtcAddNameExpression");
    load(n.lowered_name, "nvrtcGetLoweredName"), load(n.error_string, "nvrtcGetErrorString");
    load(n.log_size, "nvrtcGetProgramLogSize"), load(n.log, "nvrtcGetProgramLog");
    load(n.cubin_size, "nvrtcGetCUBINSize"), load(n.cubin, "nvrtcGetCUBIN");
    return complete ? &n : nullptr;
  }();
  return opened;
}

/// Turns "9.0" into "sm_90a". The architecture-specific instructions ("a") are included from 9.0 on.
std::string architecture(const std::string& capability) {
  std::string digits = capability;
  std::erase(digits, '.');
  const bool number = digits.size() + 1 == capability.size() && digits.size() >= 2 &&
                      digits.find_first_not_of("0123456789") == std::string::npos;
  if (!number) fail<InvalidArgument>("nvrtc: '" + capability + "' is no compute capability, such as 9.0");
  return "sm_" + digits + (std::stoi(digits) >= 90 ? "a" : "");
}

}  // namespace

bool can_compile_kernels() { return nvrtc() != nullptr; }

CompiledKernel compile_kernel(const std::string& source, const std::string& kernel,
                              const std::string& capability, const std::vector<std::string>& options) {
  const std::string target = "--gpu-architecture=" + architecture(capability);
  const Nvrtc* const n = nvrtc();
  if (!n)
    fail<Unsupported>("nvrtc: there is no libnvrtc here to compile kernel '" + kernel +
                      "' with; set KOLMO_NVRTC to its folder");
  struct Owner {
    const Nvrtc* n;
    Program program = nullptr;
    ~Owner() {
      if (program) n->destroy(&program);
    }
  } owner{n};
  const auto check = [&](int status, const std::string& log = {}) {
    if (status != 0)
      fail<InvalidArgument>("nvrtc: kernel '" + kernel + "' for " + capability + ": " +
                            n->error_string(status) + (log.empty() ? "" : "\n" + log));
  };
  check(n->create(&owner.program, source.c_str(), "kernel.cu", 0, nullptr, nullptr));
  check(n->add_name(owner.program, kernel.c_str()));

  std::vector<std::string> all{target, "--std=c++20", "--ptxas-options=-v"};
  for (const std::string& folder : {n->folder + "/../include", std::string("/usr/local/cuda/include")})
    if (std::filesystem::exists(folder + "/cuda_fp16.h")) all.push_back("--include-path=" + folder);
  all.insert(all.end(), options.begin(), options.end());
  std::vector<const char*> pointers;
  for (const std::string& option : all) pointers.push_back(option.c_str());
  const int status = n->compile(owner.program, int(pointers.size()), pointers.data());

  CompiledKernel result;
  const auto read = [&](std::string& text, auto size, auto content) {
    std::size_t bytes = 0;
    check(size(owner.program, &bytes));
    text.resize(bytes);
    check(content(owner.program, text.data()));
  };
  read(result.log, n->log_size, n->log);
  while (!result.log.empty() && (result.log.back() == '\0' || result.log.back() == '\n'))
    result.log.pop_back();
  check(status, result.log);
  const char* entry = nullptr;
  check(n->lowered_name(owner.program, kernel.c_str(), &entry));
  result.entry = entry;
  read(result.image, n->cubin_size, n->cubin);
  return result;
}

}  // namespace kolmo
