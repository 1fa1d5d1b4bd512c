#include "kolmo/io/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kolmo/base/error.hpp"
#include "kolmo/io/npy.hpp"
#include "kolmo/io/text_reader.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo {
namespace {

using testing_io::content_of;
using testing_io::message_of;
using testing_io::TemporaryFolder;
using Indices = std::vector<std::size_t>;

const Table& named() {
  static const Table table = [] {
    Table t = parse_text("x,\"y, z\",w,\"q\"\"q\",x\n1,2,3,4,5\n", "f.csv");
    t.names[2] = "2";
    return t;
  }();
  return table;
}
const Table& unnamed() {
  static const Table table = parse_text("1,2,3\n4,5,6\n7,8,9\n10,11,12\n", "f.csv");
  return table;
}

TEST(SelectColumns, ByIndexAndName) {
  EXPECT_EQ(select_columns(named(), "", "4"), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(select_columns(named(), "4"), (Indices{4}));
  EXPECT_EQ(select_columns(named(), "4,1"), (Indices{4, 1}));
  EXPECT_EQ(select_columns(named(), "\"y, z\" , 3"), (Indices{1, 3}));
  EXPECT_EQ(select_columns(named(), "\"q\"\"q\""), (Indices{3}));
  EXPECT_EQ(select_columns(named(), "2"), (Indices{2}));
  EXPECT_EQ(select_columns(unnamed(), "2,1"), (Indices{2, 1}));
}

TEST(SelectColumns, RefusesWithOneClearLine) {
  const auto refused = [](const Table& table, const std::string& spec) {
    return message_of<InvalidArgument>([&] { select_columns(table, spec); });
  };
  EXPECT_EQ(refused(named(), "w"), "f.csv: no column \"w\"; its columns are x, y, z, 2, q\"q, x");
  EXPECT_EQ(refused(named(), "7"), "f.csv: no column \"7\"; its columns are x, y, z, 2, q\"q, x");
  EXPECT_EQ(refused(unnamed(), "3"),
            "f.csv: no column \"3\"; the file has no header, its columns are 0 to 2");
  EXPECT_EQ(refused(unnamed(), "-1"),
            "f.csv: no column \"-1\"; the file has no header, its columns are 0 to 2");
  EXPECT_EQ(refused(unnamed(), "99999999999999999999"),
            "f.csv: no column \"99999999999999999999\"; the file has no header, its columns are 0 to 2");
  EXPECT_EQ(refused(named(), "x"), "f.csv: 2 columns are called \"x\"; choose by index (0, 4)");
  for (const char* both : {"", "4,0"})
    EXPECT_THAT(refused(named(), both),
                testing::EndsWith(" are both called \"x\"; choose one of them by its index, or rename one"));
  EXPECT_EQ(refused(named(), "3,\"q\"\"q\""), "f.csv: q\"q is chosen twice");
  EXPECT_EQ(refused(unnamed(), "1,,2"), "f.csv: columns \"1,,2\": a name is empty");
  EXPECT_EQ(refused(unnamed(), "\"1"), "f.csv: columns \"1: a quote is not closed");
  EXPECT_EQ(refused(unnamed(), "\"1\"x"), "f.csv: columns \"1\"x: text after a closing quote");
}

TEST(SelectColumns, NameThatReadsLikeAnIndexMustBeQuoted) {
  Table table = named();
  table.names = {"1", "b", "c", "d", "e"};
  EXPECT_EQ(message_of<InvalidArgument>([&] { select_columns(table, "1"); }),
            "f.csv: 1 is the name of column 0 and the index of column b; put names in double quotes");
  EXPECT_EQ(select_columns(table, "\"1\""), (Indices{0}));
  EXPECT_EQ(select_columns(table, "b"), (Indices{1}));
}

TEST(SelectColumns, RangesIncludeBothEnds) {
  EXPECT_EQ(select_columns(unnamed(), "0-2"), (Indices{0, 1, 2}));
  EXPECT_EQ(select_columns(unnamed(), "1-1,0"), (Indices{1, 0}));
  EXPECT_EQ(select_columns(named(), "2-3,0"), (Indices{2, 3, 0}));
  Table table = unnamed();
  table.named = true, table.names = {"0-1", "b", "7-9"};
  EXPECT_EQ(select_columns(table, "\"0-1\""), (Indices{0}));
  EXPECT_EQ(select_columns(table, "7-9"), (Indices{2})) << "no such range";
  EXPECT_EQ(select_columns(table, "1-2"), (Indices{1, 2}));
  const auto refused = [](const Table& t, const std::string& spec) {
    return message_of<InvalidArgument>([&] { select_columns(t, spec); });
  };
  EXPECT_EQ(refused(table, "0-1"),
            "f.csv: 0-1 is the name of column 0 and a range of columns; put names in double quotes");
  EXPECT_EQ(refused(unnamed(), "1-3"),
            "f.csv: no columns \"1-3\"; the file has no header, its columns are 0 to 2");
  EXPECT_EQ(refused(unnamed(), "0-99999999999999999999"),
            "f.csv: no columns \"0-99999999999999999999\"; the file has no header, its columns are 0 to 2");
  EXPECT_EQ(refused(unnamed(), "2-0"),
            "f.csv: columns \"2-0\": a range goes from the lower index to the higher one");
  EXPECT_EQ(refused(unnamed(), "0-1,1"), "f.csv: column 1 is chosen twice");
  for (const char* spec : {"1-", "-", "--", "0-1-2", "0 - 1", "-1-2", "+0-1"})
    EXPECT_EQ(refused(unnamed(), spec), "f.csv: no column \"" + std::string(spec) +
                                            "\"; the file has no header, its columns are 0 to 2");
}

TEST(SelectColumns, LeavesExcludedOnesOut) {
  EXPECT_EQ(select_columns(unnamed(), "", "1"), (Indices{0, 2}));
  EXPECT_EQ(select_columns(named(), "4,1-3", "2-3"), (Indices{4, 1}));
  const Table dated = parse_text("date,a\n2001-01-01,1\n2001-01-02,2\n", "f.csv");
  EXPECT_EQ(select_columns(dated, "", "date"), (Indices{1})) << "what is left out may be text";
  EXPECT_EQ(message_of<InvalidArgument>([&] { select_columns(unnamed(), "", "0-2"); }),
            "f.csv: no column is left without 0-2");
  EXPECT_EQ(message_of<InvalidArgument>([&] { select_columns(unnamed(), "", "9"); }),
            "f.csv: no column \"9\"; the file has no header, its columns are 0 to 2");
}

TEST(SelectColumns, NamesTheNearestColumn) {
  const Table table = parse_text("pressure,wind\n1,2\n", "f.csv");
  EXPECT_EQ(message_of<InvalidArgument>([&] { select_columns(table, "presure"); }),
            "f.csv: no column \"presure\", did you mean \"pressure\"?; its columns are pressure, wind");
}

TEST(SelectRows, HalfOpen) {
  EXPECT_EQ(select_rows(unnamed(), "1:3").columns[0], (std::vector<double>{4, 7}));
  EXPECT_EQ(select_rows(unnamed(), ":1").columns[2], (std::vector<double>{3}));
  EXPECT_EQ(select_rows(unnamed(), "3:").columns[1], (std::vector<double>{11}));
  EXPECT_EQ(select_rows(unnamed(), ":").rows(), 4u);
}

TEST(SelectRows, KeepsTrialsInStep) {
  Table table = unnamed();
  table.trial = {0, 0, 1, 1};
  EXPECT_EQ(select_rows(table, "1:3").trial, (std::vector<std::int32_t>{0, 1}));
  EXPECT_TRUE(select_rows(unnamed(), "1:3").trial.empty());
}

TEST(SelectRows, RefusesWithOneClearLine) {
  for (const char* range : {"2:2", "3:1", "0:5", "4:", "5:"}) {
    EXPECT_EQ(message_of<InvalidArgument>([&] { select_rows(unnamed(), range); }),
              std::string("f.csv: rows ") + range + ": the file has rows 0 to 3, and START is below END");
  }
  for (const char* range : {"", "2", "a:b", "-1:2", "1:2:3", "1 :2", "1.5:2", "0:99999999999999999999"}) {
    EXPECT_EQ(message_of<InvalidArgument>([&] { select_rows(unnamed(), range); }),
              std::string("rows \"") + range + "\": want START:END, 0-based, END not included");
  }
}

TEST(SelectRows, LeavesFaultsOfOtherRowsBehind) {
  const Table table = parse_text("a,b\n1,x\n2,3\n4,y\n5,6\n", "f.csv");
  EXPECT_EQ(select_columns(select_rows(table, "1:2"), "").size(), 2u);
  EXPECT_EQ(message_of<InvalidArgument>([&] { select_columns(select_rows(table, "1:3"), "b"); }),
            "f.csv:4:b: \"y\" is not a number; --na y reads it as a missing value");
  std::string text = "a\n";
  for (std::size_t t = 0; t < Table::max_faults + 10; ++t) text += "x\n";
  const Table long_table = parse_text(text, "f.csv");
  message_of<InvalidArgument>([&] { select_columns(select_rows(long_table, "70:"), "0"); });
}

TEST(WriteCsv, ReadsBackTheSameBits) {
  const TemporaryFolder folder;
  Table table;
  table.names = {"a", "b, \"c\"", ""};
  table.columns = {{0.1, -0.0, 1e300}, {1.0 / 3, 5e-324, std::nan("")}, {1, 2, 3}};
  write_csv(folder / "t.csv", table);
  EXPECT_EQ(content_of(folder / "t.csv"),
            "a,\"b, \"\"c\"\"\",\n0.1,0.3333333333333333,1\n-0,5e-324,2\n1e+300,NaN,3\n");
  const Table back = read_table(folder / "t.csv");
  EXPECT_EQ(back.names, (std::vector<std::string>{"a", "b, \"c\"", "2"}));
  EXPECT_EQ(back.columns[0], table.columns[0]);
  EXPECT_TRUE(std::signbit(back.columns[0][1]));
  EXPECT_EQ(back.columns[1][1], 5e-324);
  EXPECT_TRUE(std::isnan(back.columns[1][2]));
}

TEST(ReadTable, TellsFormatsApartByContent) {
  const TemporaryFolder folder;
  double values[] = {1, 2, 3, 4, 5, 6};
  write_npy(folder / "a.dat", tensor(values, {3, 2}));
  EXPECT_EQ(read_table(folder / "a.dat").columns[1], (std::vector<double>{2, 4, 6}));
  std::ofstream(folder / "b.npy") << "1,2\n";
  EXPECT_EQ(message_of<InvalidArgument>([&] { read_table(folder / "b.npy"); }),
            (folder / "b.npy") + ": not an NPY file: it does not start with \\x93NUMPY");
}

}  // namespace
}  // namespace kolmo
