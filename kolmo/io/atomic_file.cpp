#include "kolmo/io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "kolmo/base/error.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo {
namespace {

[[noreturn]] void cannot_create(const std::string& path) {
  fail<InvalidArgument>(printable(path, 4096) + ": cannot be written: " + std::strerror(errno));
}

[[noreturn]] void write_failed(const std::string& path) {
  fail<DeviceError>(printable(path, 4096) + ": writing failed: " + std::strerror(errno));
}

/// Names of temporary files, for a handler of signals, which can take no lock. Those that find no place are left behind.
std::array<std::atomic<char*>, 16> temporaries{};
std::mutex changing;

void remember(const std::string& path) {
  const std::scoped_lock lock(changing);
  for (auto& place : temporaries)
    if (!place) return void(place = ::strdup(path.c_str()));
}

void forget(const std::string& path) {
  const std::scoped_lock lock(changing);
  for (auto& place : temporaries)
    if (char* const name = place; name && path == name && place.exchange(nullptr)) std::free(name);
}

/// Creates a new file in the folder of `target`. Its name, which nobody can guess, is remembered before the file is
/// there, so that a signal at any moment finds it.
int create_beside(const std::string& target, std::string& temporary, mode_t mode) {
  const auto slash = target.rfind('/') + 1;  // 0 if there is no slash
  for (;;) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) return -1;
    temporary = target.substr(0, slash) + "." + target.substr(slash) + "." + std::to_string(number) + ".tmp";
    remember(temporary);
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0) return descriptor;
    const int error = errno;
    forget(temporary);
    errno = error;
    if (error != EEXIST) return descriptor;
  }
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(std::size_t(n));
  }
  return true;
}

/// Makes the rename durable across a power failure. On file systems that do not support this it has no
/// effect.
void sync_folder(const std::string& target) {
  const auto slash = target.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, Existing existing)
    : path_(path == "-" ? "standard output" : path), target_(path) {
  if (existing == Existing::kept && path == "-") {
    descriptor_ = ::dup(STDOUT_FILENO);
    if (descriptor_ < 0) cannot_create(path_);
    return;
  }
  struct stat status {};
  const bool exists = existing == Existing::kept
                          ? ::stat(path.c_str(), &status) == 0
                          : ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  // Links that the system does not let this user follow are not followed here either.
  if (!exists && existing == Existing::kept && errno != ENOENT) cannot_create(path_);
  if (exists && S_ISDIR(status.st_mode)) fail<InvalidArgument>(printable(path, 4096) + ": is a directory");
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) cannot_create(path_);
    return;
  }
  if (exists && ::access(path.c_str(), W_OK) != 0) cannot_create(path_);
  if (existing == Existing::kept) target_ = link_end(path);
  descriptor_ = create_beside(target_, temporary_, exists ? 0600 : 0666);
  if (descriptor_ < 0) {
    temporary_.clear();
    cannot_create(path_);
  }
  if (!exists || ::fchmod(descriptor_, status.st_mode & 07777) == 0 || errno == EPERM) return;
  const int error = errno;
  ::close(descriptor_), ::unlink(temporary_.c_str()), forget(temporary_);
  errno = error;
  write_failed(path_);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget(temporary_);
}

void AtomicFile::write(std::string_view bytes) {
  if (!write_all(descriptor_, bytes)) write_failed(path_);
}

void AtomicFile::commit() {
  if (!temporary_.empty() && ::fsync(descriptor_) != 0 && errno != EINVAL) write_failed(path_);
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) write_failed(path_);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) write_failed(path_);
  forget(temporary_);
  temporary_.clear();
  sync_folder(target_);
}

void write_file(const std::string& path, std::string_view bytes, Existing existing) {
  AtomicFile file(path, existing);
  file.write(bytes);
  file.commit();
}

std::string write_new_file(const std::string& folder, const std::string& stem, const std::string& name,
                           std::string_view bytes) {
  std::string path = folder + "/" + stem + "-XXXXXX-" + name;
  const int descriptor = ::mkostemps(path.data(), int(name.size()) + 1, O_CLOEXEC);
  if (descriptor < 0) cannot_create(path);
  const bool written = write_all(descriptor, bytes) && ::fsync(descriptor) == 0;
  const int error = errno;
  if (::close(descriptor) == 0 && written) return path;
  if (!written) errno = error;
  const std::string why = std::strerror(errno);
  ::unlink(path.c_str());
  fail<DeviceError>(printable(path, 4096) + ": writing failed: " + why);
}

std::string link_end(const std::string& path) {
  constexpr int most = 40;  // links in a row, as Linux follows
  std::filesystem::path end = path;
  std::error_code error;
  for (int i = 0; i < most; ++i) {
    const auto next = std::filesystem::read_symlink(end, error);
    if (error) return end.string();
    end = end.parent_path() / next;  // an absolute one replaces it
  }
  errno = ELOOP;
  cannot_create(path);
}

void remove_temporary_files() noexcept {
  for (auto& place : temporaries)
    if (const char* const name = place.exchange(nullptr)) ::unlink(name);
}

}  // namespace kolmo
