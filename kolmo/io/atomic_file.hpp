#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace kolmo {

/// What happens to something that already has the name of the file to be written.
enum class Existing : std::uint8_t { kept, replaced };

/// A file that appears complete or not at all: it is written to a temporary file in the same folder, flushed
/// to the disk, and renamed by commit(). Without commit nothing remains. An existing file keeps its
/// permissions. A symbolic link stays: what it leads to is written, whether that exists or not. Anything but a
/// regular file ("-" for standard output, a pipe, a device) is written in place. With Existing::replaced,
/// whatever has the name gives way to a new file: nothing is followed, opened or waited for. Throws
/// InvalidArgument if the file cannot be created, DeviceError if writing fails (a full disk).
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path, Existing existing = Existing::kept);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::string_view bytes);
  void commit();

 private:
  std::string path_, target_, temporary_;  // temporary_ is empty if the target is written in place
  int descriptor_ = -1;
};

/// Writes the whole file at once.
void write_file(const std::string& path, std::string_view bytes, Existing existing = Existing::kept);

/// Writes a new file into the folder and returns its path: `stem`, a part that nobody can guess, and `name`. Only the user
/// may read it. Whatever others have put into the folder, nothing is followed or overwritten. Throws as AtomicFile does.
std::string write_new_file(const std::string& folder, const std::string& stem, const std::string& name,
                           std::string_view bytes);

/// What a path leads to: itself, or where the symbolic links end that it names, also if nothing is there yet.
std::string link_end(const std::string& path);

/// Removes the temporary files of all AtomicFiles of this process. For handlers of signals that end it.
void remove_temporary_files() noexcept;

}  // namespace kolmo
