#include "kolmo/io/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "kolmo/base/error.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo {
namespace {

using testing_io::content_of;
using testing_io::message_of;
using testing_io::TemporaryFolder;

TEST(ReadFile, RefusesWithOneClearLine) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of<InvalidArgument>([&] { read_file(folder / "none.csv"); }),
            (folder / "none.csv") + ": cannot be read: No such file or directory");
  EXPECT_EQ(message_of<InvalidArgument>([&] { read_file(folder / ""); }),
            (folder / "") + ": is a directory, not a file");
  EXPECT_EQ(message_of<InvalidArgument>([&] { read_file("/proc/self/mem"); }),
            "/proc/self/mem: cannot be read: Input/output error");
}

TEST(ReadFile, ReadsWhatHasNoSize) {
  EXPECT_EQ(read_file("/dev/null"), "");
  EXPECT_GT(read_file("/proc/self/maps").size(), 100u);
}

TEST(ReadFile, LimitsAreKept) {
  const TemporaryFolder folder;
  write_file(folder / "ten", "0123456789");
  EXPECT_EQ(read_file(folder / "ten", 10), "0123456789");
  EXPECT_EQ(message_of<InvalidArgument>([&] { read_file(folder / "ten", 9); }),
            (folder / "ten") + ": is longer than 9 bytes");
  EXPECT_THROW(read_file("/dev/zero", 1 << 20), InvalidArgument) << "of a size that is not known";
}

TEST(ReadRegular, ReadsNothingElseAndNeverWaits) {
  const TemporaryFolder folder;
  write_file(folder / "file", "text");
  std::filesystem::create_symlink("file", folder / "link");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_regular(folder / "file", 4), "text");
  EXPECT_EQ(read_regular(folder / "link", 4), "text");
  const auto refused = [&](const std::string& name, Links links = Links::followed) {
    return message_of<InvalidArgument>([&] { read_regular(folder / name, 4, links); });
  };
  EXPECT_EQ(refused("link", Links::refused),
            (folder / "link") + ": is a symbolic link, which is not followed here");
  EXPECT_EQ(refused("pipe"), (folder / "pipe") + ": is not a regular file");
  EXPECT_EQ(refused(""), (folder / "") + ": is a directory, not a file");
  EXPECT_THROW(read_regular("/dev/zero", 4), InvalidArgument);
}

TEST(AtomicFile, ReplacesALinkOrAPipeWhenItShall) {
  const TemporaryFolder folder;
  write_file(folder / "target", "mine");
  std::filesystem::create_symlink("target", folder / "link");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const char* name : {"link", "pipe", "new"}) {
    write_file(folder / name, "new", Existing::replaced);
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / name))) << name;
    EXPECT_EQ(content_of(folder / name), "new");
  }
  EXPECT_EQ(content_of(folder / "target"), "mine");
  EXPECT_THROW(write_file(folder / "", "new", Existing::replaced), InvalidArgument);
}

TEST(Printable, EscapesWhatIsNotText) {
  EXPECT_EQ(printable("a\tb\xFF\x7F"), "a\\x09b\\xff\\x7f");
  EXPECT_EQ(printable("Größe 温度"), "Größe 温度");
  EXPECT_EQ(printable("温度温度", 7), "温度...");
  EXPECT_EQ(printable("a\u202Eb\u009Bc\u2066"), "a\\xe2\\x80\\xaeb\\xc2\\x9bc\\xe2\\x81\\xa6");
  EXPECT_FALSE(is_utf8("\xC0\x80"));          // not the shortest form
  EXPECT_FALSE(is_utf8("\xED\xA0\x80"));      // a surrogate
  EXPECT_FALSE(is_utf8("\xF4\x90\x80\x80"));  // beyond U+10FFFF
  EXPECT_FALSE(is_utf8("\xE6\xB8"));
  EXPECT_TRUE(is_utf8("\xF4\x8F\xBF\xBF"));
}

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  const std::string path = folder / "out.txt";
  {
    AtomicFile file(path);
    file.write("half");
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_EQ(folder.entries(), 0u);
  write_file(path, "whole");
  EXPECT_EQ(content_of(path), "whole");
  {
    AtomicFile file(path);
    file.write("half");
  }
  EXPECT_EQ(content_of(path), "whole");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, KeepsPermissionsAndLinks) {
  const TemporaryFolder folder;
  write_file(folder / "a", "1");
  ASSERT_EQ(::chmod((folder / "a").c_str(), 0640), 0);
  std::filesystem::create_symlink("a", folder / "link");
  write_file(folder / "link", "2");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(content_of(folder / "a"), "2");
  struct stat status {};
  ASSERT_EQ(::stat((folder / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST(AtomicFile, WritesDevicesInPlace) {
  write_file("/dev/null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(message_of<DeviceError>([] { write_file("/dev/full", "x"); }),
            "/dev/full: writing failed: No space left on device");
}

TEST(AtomicFile, RefusesWithOneClearLine) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of<InvalidArgument>([&] { AtomicFile file(folder / "none/out"); }),
            (folder / "none/out") + ": cannot be written: No such file or directory");
  EXPECT_EQ(message_of<InvalidArgument>([&] { AtomicFile file(folder / ""); }),
            (folder / "") + ": is a directory");
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace kolmo
