#include "kolmo/io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

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

/// Creates a new file in the folder of `target`, with a name that is unique to this process and call.
int create_beside(const std::string& target, std::string& temporary) {
  const auto slash = target.rfind('/') + 1;  // 0 if there is no slash
  for (int attempt = 0;; ++attempt) {
    temporary = target.substr(0, slash) + "." + target.substr(slash) + "." + std::to_string(::getpid()) +
                "." + std::to_string(attempt) + ".tmp";
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
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
  if (exists && S_ISDIR(status.st_mode)) fail<InvalidArgument>(printable(path, 4096) + ": is a directory");
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) cannot_create(path_);
    return;
  }
  if (exists) {
    if (::access(path.c_str(), W_OK) != 0) cannot_create(path_);
    std::error_code error;
    target_ = std::filesystem::canonical(path, error).string();
    if (error) target_ = path;
  }
  descriptor_ = create_beside(target_, temporary_);
  if (descriptor_ < 0) {
    temporary_.clear();
    cannot_create(path_);
  }
  if (exists && ::fchmod(descriptor_, status.st_mode & 07777) != 0 && errno != EPERM) write_failed(path_);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) write_failed(path_);
    bytes.remove_prefix(std::size_t(n));
  }
}

void AtomicFile::commit() {
  if (!temporary_.empty() && ::fsync(descriptor_) != 0 && errno != EINVAL) write_failed(path_);
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) write_failed(path_);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) write_failed(path_);
  temporary_.clear();
  sync_folder(target_);
}

void write_file(const std::string& path, std::string_view bytes, Existing existing) {
  AtomicFile file(path, existing);
  file.write(bytes);
  file.commit();
}

}  // namespace kolmo
