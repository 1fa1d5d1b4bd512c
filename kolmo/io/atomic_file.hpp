#pragma once
#include <string>
#include <string_view>

namespace kolmo {

/// A file that appears complete or not at all: written beside its place, flushed to the disk, then renamed
/// over it by commit(); without commit nothing is left. An existing file keeps its permissions, a link its
/// target. What is not a regular file ("-" for standard output, a pipe, a device) is written in place. Raises
/// InvalidArgument where the file cannot be created, DeviceError where writing fails (a full disk).
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::string_view bytes);
  void commit();

 private:
  std::string path_, target_, temporary_;  // temporary_ is empty where the target is written in place
  int descriptor_ = -1;
};

/// Writes the whole file at once.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace kolmo
