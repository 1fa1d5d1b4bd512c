#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace kolmo {

/// A library of CUDA, opened at run time. It stays open until the process ends.
struct CudaLibrary {
  std::string name;  ///< name of the file, e.g. "libcublasLt.so.13"
  void* handle = nullptr;
  std::string path;     ///< path of the file that was opened; empty if none was
  std::string problem;  ///< why it cannot be used, with the places searched; empty if it can

  /// The path, or the problem.
  const std::string& where() const { return problem.empty() ? path : problem; }
};

/// The existing folders that usually hold CUDA's libraries, in this order: those of $CUDA_HOME and
/// $CUDA_PATH, those of libraries already loaded, those of the packages `nvidia-*` in $VIRTUAL_ENV and
/// $CONDA_PREFIX, and `local`/cuda*, the highest version first.
std::vector<std::filesystem::path> cuda_library_folders(const std::filesystem::path& local = "/usr/local");

/// Opens a library through the dynamic loader, else from cuda_library_folders().
CudaLibrary open_cuda_library(const std::string& name);

}  // namespace kolmo
