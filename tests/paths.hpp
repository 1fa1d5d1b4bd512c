#pragma once
#include <filesystem>

// Only paths.cpp knows these paths, so that every other object is the same in another copy of the tree, which
// then shares ccache.
namespace kolmo {

std::filesystem::path source_dir();
/// A library that stands in for one of CUDA's.
std::filesystem::path fake_cuda_library();

}  // namespace kolmo
