#include "tests/paths.hpp"

namespace kolmo {

std::filesystem::path source_dir() { return KOLMO_SOURCE_DIR; }
std::filesystem::path fake_cuda_library() { return KOLMO_FAKE_CUDA_LIBRARY; }

}  // namespace kolmo
