#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "kolmo/tune/cached.hpp"

namespace {

/// Transposes an n x n matrix in square blocks; 0 is no blocking.
void transpose(const std::vector<float>& in, std::vector<float>& out, std::size_t n, std::size_t block) {
  if (block == 0) block = n;
  for (std::size_t i0 = 0; i0 < n; i0 += block)
    for (std::size_t j0 = 0; j0 < n; j0 += block)
      for (std::size_t i = i0; i < std::min(n, i0 + block); ++i)
        for (std::size_t j = j0; j < std::min(n, j0 + block); ++j) out[j * n + i] = in[i * n + j];
}

}  // namespace

int main() {
  const std::string folder = (std::filesystem::temp_directory_path() / "kolmo-tuning-XXXXXX").string();
  std::vector<char> path(folder.begin(), folder.end());
  path.push_back('\0');
  if (!mkdtemp(path.data())) return 1;

  const std::size_t n = 1024;
  std::vector<float> in(n * n), out(n * n);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = float(i);

  namespace tune = kolmo::tune;
  const tune::Space space(std::vector<tune::Parameter>{{"block", {0, 8, 16, 32, 64, 128}}});
  const auto evaluate = [&](const tune::Values& values) {
    const auto begin = std::chrono::steady_clock::now();
    transpose(in, out, n, std::size_t(values[0]));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  tune::TuneOptions options;
  options.budget = 2;  // seconds
  options.verify = [&](std::size_t config) -> std::string {
    std::fill(out.begin(), out.end(), -1.f);
    transpose(in, out, n, std::size_t(space.values(config)[0]));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (out[j * n + i] != in[i * n + j]) kolmo::fail<kolmo::Error>("transpose: wrong element");
    return "exact";
  };
  const tune::Cache cache{tune::Store(path.data()), "transpose 1", {{"n", n}}};
  const tune::Tuning tuned = tune::tune_cached("transpose", space, evaluate, cache, options);
  std::printf("%s: %.2f times as fast as no blocking\n", space.describe(tuned.winner).c_str(),
              tuned.speedup());

  const tune::Tuning again =
      tune::tune_cached("transpose", space, evaluate, cache, options);  // measures nothing
  std::filesystem::remove_all(path.data());
  return again.cached && again.winner == tuned.winner ? 0 : 1;
}
