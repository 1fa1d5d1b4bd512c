#include "kolmo/runtime/cuda_libraries.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/io/temporary_folder.hpp"
#include "tests/paths.hpp"

namespace kolmo {
namespace {

using testing::HasSubstr;
using testing_io::TemporaryFolder;
namespace fs = std::filesystem;

constexpr const char* name = "libkolmofake.so.13";

/// Sets an environment variable for its lifetime.
class Variable {
 public:
  Variable(const char* variable, const std::string& value) : variable_(variable) {
    if (const char* before = std::getenv(variable)) before_ = before, was_set_ = true;
    setenv(variable, value.c_str(), 1);
  }
  ~Variable() {
    if (was_set_)
      setenv(variable_, before_.c_str(), 1);
    else
      unsetenv(variable_);
  }

 private:
  const char* variable_;
  std::string before_;
  bool was_set_ = false;
};

void install(const fs::path& folder) {
  fs::create_directories(folder);
  fs::copy_file(fake_cuda_library(), folder / name);
}

void expect_found(const CudaLibrary& library, const fs::path& folder) {
  ASSERT_NE(library.handle, nullptr) << library.problem;
  EXPECT_EQ(library.problem, "");
  EXPECT_EQ(fs::path(library.path), folder / name);
  const auto version = reinterpret_cast<int (*)()>(dlsym(library.handle, "kolmo_fake_version"));
  ASSERT_NE(version, nullptr);
  EXPECT_EQ(version(), 13);
  dlclose(library.handle);  // otherwise the loader finds it by name from now on
}

TEST(CudaLibraries, AreFoundInAToolkit) {
  for (const char* below : {"lib64", "targets/x86_64-linux/lib", "lib"})
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
      const TemporaryFolder root;
      install(fs::path(root / below));
      const Variable set(variable, root / "");
      expect_found(open_cuda_library(name), fs::path(root / below));
    }
}

TEST(CudaLibraries, AreFoundInPythonPackages) {
  for (const char* below : {"cu13/lib", "cublas/lib"})
    for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
      const TemporaryFolder root;
      const fs::path folder = fs::path(root / "lib/python3.11/site-packages/nvidia") / below;
      install(folder);
      const Variable set(variable, root / "");
      expect_found(open_cuda_library(name), folder);
    }
}

TEST(CudaLibraries, OfTheHighestVersionAreTakenFirst) {
  const TemporaryFolder local;
  for (const char* version : {"cuda-9.2", "cuda-13.0", "cuda-12.10", "cuda-12.9"})
    fs::create_directories(fs::path(local / version) / "lib64");
  std::vector<std::string> found;
  for (const fs::path& folder : cuda_library_folders(local / ""))
    if (folder.string().starts_with(local / "")) found.push_back(folder.parent_path().filename());
  EXPECT_THAT(found, testing::ElementsAre("cuda-13.0", "cuda-12.10", "cuda-12.9", "cuda-9.2"));
}

TEST(CudaLibraries, SayWhereTheyWereLookedFor) {
  const TemporaryFolder root;
  fs::create_directories(root / "lib64");
  const Variable set("CUDA_HOME", root / "");
  const CudaLibrary none = open_cuda_library(name);
  EXPECT_EQ(none.handle, nullptr);
  EXPECT_EQ(none.path, "");
  EXPECT_THAT(none.where(), HasSubstr(name));
  EXPECT_THAT(none.where(), HasSubstr("nor in " + (root / "lib64")));
}

TEST(CudaLibraries, SayWhatIsWrongWithAFile) {
  const TemporaryFolder root;
  fs::create_directories(root / "lib64");
  std::ofstream(root / (std::string("lib64/") + name)) << "no library";
  const Variable set("CUDA_HOME", root / "");
  const CudaLibrary bad = open_cuda_library(name);
  EXPECT_EQ(bad.handle, nullptr);
  EXPECT_THAT(bad.where(), HasSubstr((root / "lib64")));
  EXPECT_THAT(bad.where(), testing::AnyOf(HasSubstr("invalid ELF header"), HasSubstr("too short")));
}

}  // namespace
}  // namespace kolmo
