#include "kolmo/io/gzip.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <fstream>

#include "kolmo/base/error.hpp"
#include "kolmo/io/npy.hpp"
#include "kolmo/io/text_reader.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo {
namespace {

using testing_io::content_of;
using testing_io::message_of;
using testing_io::TemporaryFolder;

std::string packed(const std::string& text) {
  z_stream state{};
  EXPECT_EQ(deflateInit2(&state, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&state, text.size()) + 64, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data())),
  state.avail_in = uInt(text.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data()), state.avail_out = uInt(out.size());
  EXPECT_EQ(deflate(&state, Z_FINISH), Z_STREAM_END);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

std::string unpacked(const std::string& bytes) { return gunzip(bytes_of(bytes), "f.gz").rest("f.gz"); }

std::string numbers(int rows) {
  std::string text;
  for (std::int64_t t = 0; t < rows; ++t)
    text += std::to_string(t * t % 1009) + "," + std::to_string(t) + "\n";
  return text;
}

TEST(Gzip, UnpacksMembersOneAfterTheOther) {
  const std::string text = numbers(100000);
  EXPECT_EQ(unpacked(packed(text)), text);
  EXPECT_EQ(unpacked(packed("")), "");
  EXPECT_EQ(unpacked(packed("1,2\n") + packed("") + packed("3,4\n")), "1,2\n3,4\n");
  EXPECT_EQ(unpacked(packed("1,2\n") + std::string(1000, '\0')), "1,2\n") << "tar and tapes pad with zeros";
}

TEST(Gzip, RefusesWhatIsDamaged) {
  const std::string whole = packed(numbers(2000));
  for (const std::size_t length : {std::size_t(2), std::size_t(11), whole.size() / 2, whole.size() - 1}) {
    EXPECT_EQ(message_of<InvalidArgument>([&] { unpacked(whole.substr(0, length)); }),
              "f.gz: the gzip data is damaged or cut short: the file ends within the compressed data");
  }
  std::string flipped = whole;
  flipped[whole.size() - 6] = char(flipped[whole.size() - 6] ^ 1);  // in the checksum
  EXPECT_EQ(message_of<InvalidArgument>([&] { unpacked(flipped); }),
            "f.gz: the gzip data is damaged or cut short: incorrect data check");
  for (std::size_t i = 2; i < whole.size(); i += 7) {
    std::string damaged = whole;
    damaged[i] = char(damaged[i] ^ 0x55);
    try {
      unpacked(damaged);  // names and times in the header may be anything
    } catch (const InvalidArgument& e) {
      EXPECT_TRUE(std::string(e.what()).starts_with("f.gz: the gzip data is damaged")) << e.what();
    }
  }
  EXPECT_EQ(message_of<InvalidArgument>([&] { unpacked(whole + "text"); }),
            "f.gz: the gzip data is damaged or cut short: incorrect header check");
  EXPECT_EQ(message_of<InvalidArgument>([&] { unpacked(whole + std::string(3, '\0') + whole); }),
            "f.gz: the gzip data is damaged or cut short: other bytes follow the compressed data");
}

TEST(Gzip, RefusesABomb) {
  const std::string bomb = packed(std::string(std::size_t(unpacked_bytes_allowed) + (1 << 20), '\n'));
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              ByteReader bytes = gunzip(bytes_of(bomb), "f.gz");
              read_text(bytes, "f.gz");
            }),
            "f.gz: the gzip data grows to more than 200 times its size; if this is meant, unpack it first "
            "(gunzip)");
}

TEST(Gzip, TablesAreReadByTheirContent) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.csv") << packed("a,b\n1,2\n3,4\n");
  EXPECT_EQ(read_table(folder / "a.csv").columns[1], (std::vector<double>{2, 4}));
  double values[] = {1, 2, 3, 4, 5, 6};
  write_npy(folder / "a.npy", tensor(values, {3, 2}));
  std::ofstream(folder / "a.npy.gz") << packed(content_of(folder / "a.npy"));
  EXPECT_EQ(read_table(folder / "a.npy.gz").columns[1], (std::vector<double>{2, 4, 6}));
  std::ofstream(folder / "twice.gz") << packed(packed("1,2\n"));
  EXPECT_EQ(message_of<InvalidArgument>([&] { read_table(folder / "twice.gz"); }),
            (folder / "twice.gz") +
                ": is a gzip archive within another; Kolmo reads CSV, TSV and NPY: gunzip -c '" +
                (folder / "twice.gz") + "' > '" + (folder / "twice") + ".csv.gz'");
}

}  // namespace
}  // namespace kolmo
