#include <stdlib.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/infer/checkpoint.hpp"
#include "kolmo/flow/infer/network_record.hpp"

namespace {

/// A file that is removed at the end.
struct TemporaryFile {
  TemporaryFile() {
    std::string pattern = std::filesystem::temp_directory_path() / "kolmo-fuzz-XXXXXX";
    if (!::mkdtemp(pattern.data())) std::abort();
    folder = pattern;
  }
  ~TemporaryFile() { std::filesystem::remove_all(folder); }
  std::string path() const { return folder + "/f"; }
  std::string folder;
};

template <class F>
void accept_or_refuse(F f) try {
  f();
} catch (const kolmo::InvalidArgument&) {}

}  // namespace

// Takes the file of a checkpoint, and the text of a record: anything must be accepted or refused by an error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  accept_or_refuse([&] { kolmo::target_from_record(0, text); });
  static constexpr std::int32_t sources[] = {0, 2};
  accept_or_refuse([&] { kolmo::links_from_record(sources, 1, text); });
  if (!text.starts_with("SQLite format 3")) return 0;
  static const TemporaryFile file;
  std::ofstream(file.path(), std::ios::binary | std::ios::trunc) << text;
  std::filesystem::remove(file.path() + "-journal");
  try {
    const kolmo::Checkpoint checkpoint(file.path(), "key");
    for (const auto& [id, record] : checkpoint.finished())
      accept_or_refuse([&, &r = record] { kolmo::links_from_record(sources, 1, r); });
  } catch (const kolmo::Error&) {}
  return 0;
}
