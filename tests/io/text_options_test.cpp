#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/io/text_reader.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo {
namespace {

using testing_io::message_of;
using Names = std::vector<std::string>;
using Values = std::vector<double>;

std::string refused(const std::string& text, const TableOptions& options) {
  return message_of<InvalidArgument>([&] {
    const Table table = parse_text(text, "f.csv", options);
    for (std::size_t c = 0; c < table.columns.size(); ++c) select_columns(table, std::to_string(c));
  });
}

bool remarked(const std::string& text, Header header = Header::automatic) {
  const Table table = parse_text(text, "f.csv", {.header = header});
  if (table.remarks.empty()) return false;
  EXPECT_EQ(table.remarks[0].name, "header_of_numbers");
  return true;
}

TEST(HeaderOfNumbers, IsRemarkedWhereItIsLikely) {
  EXPECT_TRUE(remarked("0,1,2\n5,3,8\n2,2,9\n"));
  EXPECT_TRUE(remarked("1,2,3\n0.5,3,8\n2,2,9\n"));
  EXPECT_TRUE(remarked("0,1\n7,3\n2,2\n"));
  EXPECT_TRUE(remarked("2001,2002,2003\n0.5,1.5,2.5\n3.5,-1,0\n"));
  EXPECT_TRUE(remarked("2001,2005\n0.5,1.5\n3.5,-1\n"));
  EXPECT_TRUE(remarked("17\n0.5\n1.5\n-0.25\n"));
  EXPECT_TRUE(remarked("\"1\",\"2\",\"3\"\n0.5,1.5,2.5\n3.5,-1,0\n"));
}

TEST(HeaderOfNumbers, IsNotRemarkedInOrdinaryData) {
  EXPECT_FALSE(remarked("1,2\n3,4\n5,6\n"));
  EXPECT_FALSE(remarked("1,2,3\n4,5,6\n7,8,9\n"));
  EXPECT_FALSE(remarked("0.5,1\n3,4\n5,6\n"));
  EXPECT_FALSE(remarked("0,1\n1,5\n2,7\n3,1\n")) << "a column of times";
  EXPECT_FALSE(remarked("0,5\n0.25,0.5\n0.5,-0.5\n0.75,1.5\n")) << "times with a step of a quarter";
  EXPECT_FALSE(remarked("0,1\n0,1\n1,0\n1,1\n")) << "states";
  EXPECT_FALSE(remarked("0,0,0\n0.5,0.25,-1\n1.5,2.5,3\n")) << "a process that starts at 0";
  EXPECT_FALSE(remarked("1\n0.5\n1.5\n-0.25\n"));
  EXPECT_FALSE(remarked("7,3,9\n2,4,1\n5,5,8\n"));
  EXPECT_FALSE(remarked("1,2,3\n")) << "nothing to compare with";
  EXPECT_FALSE(remarked("a,b,c\n0,1,2\n5,3,8\n2,2,9\n"));
}

TEST(HeaderOption, SaysWhatTheFirstRowIs) {
  const std::string text = "2001,2002,2003\n0.5,1.5,2.5\n3.5,-1,0\n";
  const Table named = parse_text(text, "f.csv", {.header = Header::yes});
  EXPECT_EQ(named.names, (Names{"2001", "2002", "2003"}));
  EXPECT_EQ(named.columns[0], (Values{0.5, 3.5}));
  EXPECT_TRUE(named.remarks.empty());
  EXPECT_FALSE(remarked(text, Header::no));
  EXPECT_EQ(parse_text(text, "f.csv", {.header = Header::no}).rows(), 3u);
  EXPECT_EQ(parse_text("x,2000\n3,4\n", "f.csv", {.header = Header::yes}).names, (Names{"x", "2000"}));
  EXPECT_EQ(refused("a,b\n1,2\n", {.header = Header::no}),
            "f.csv:1:column 0: \"a\" is not a number; --na a reads it as a missing value");
  EXPECT_EQ(refused("1,2\n", {.header = Header::yes}), "f.csv: the file has a header and no rows");
}

TEST(MissingOption, AddsTextsAndNumbers) {
  const TableOptions options{.cells = {.missing = {"-999", "x", "?"}}};
  const Table table = parse_text("a,b,c\n-999.0,x,?\n-9.99e2,NA,-999\n1,2,3\n", "f.csv", options);
  for (const Values& column : table.columns) {
    EXPECT_TRUE(std::isnan(column[0]) && std::isnan(column[1]));
    EXPECT_FALSE(std::isnan(column[2]));
  }
  EXPECT_EQ(select_columns(table, "").size(), 3u);
  EXPECT_EQ(refused("a\n1\nX\n", options),
            "f.csv:3:a: \"X\" is not a number; --na X reads it as a missing value")
      << "case matters";
}

TEST(DecimalOption, ReadsDecimalCommas) {
  const TableOptions comma{.cells = {.decimal = ','}};
  const Values want{1.5, -2.25e3};
  for (const char* text : {"a;b\n1,5;2\n-2,25e3;4\n", "a\tb\n1,5\t2\n-2,25e3\t4\n", "a b\n1,5 2\n-2,25e3 4\n",
                           "1,5;2\n-2,25e3;4\n", "\"1,5\";2\n\"-2250\";4\n", "1,5\n-2,25e3\n"}) {
    const Table table = parse_text(text, "f.csv", comma);
    EXPECT_EQ(table.columns[0][0], 1.5) << text;
    EXPECT_EQ(table.columns[0], want) << text;
  }
  EXPECT_EQ(parse_text("+,5;,5\n1;2\n", "f.csv", comma).columns[0][0], 0.5);
  const std::string message =
      "f.csv: --decimal , needs columns that are separated by semicolons, tabs or blanks, or numbers in "
      "quotes; commas separate "
      "the columns of this file";
  for (const char* text : {"a,b\n1,2\n", "1.5,2.5,3\n2,3,4\n", "1,5,2,3\n"})
    EXPECT_EQ(refused(text, comma), message) << text;
  EXPECT_EQ(refused("a;b\n1,5;2.5\n", comma),
            "f.csv:2:b: \"2.5\" has a point in a number, but --decimal , was given");
  EXPECT_EQ(refused("a;b\n1,5;1.000,5\n", comma), "f.csv:2:b: \"1.000,5\" is not a number");
}

TEST(DecimalOption, ReadsDecimalCommasInQuotesBetweenCommas) {
  const TableOptions comma{.cells = {.decimal = ','}};
  const Values want{1.5, -2.25e3};
  for (const char* text :
       {"a,b\n\"1,5\",\"2,5\"\n\"-2,25e3\",\"4,5\"\n", "\"1,5\",2\n\"-2250\",4\n",
        "\"1,5\",\"2,5\"\n\"-2250,0\",\"4\"\n", "\"a\",\"b\",\"c\"\n\"1,5\",2,\"2,5\"\n\"-2250,0\",4,1\n"}) {
    EXPECT_EQ(parse_text(text, "f.csv", comma).columns[0], want) << text;
    EXPECT_GE(parse_text(text, "f.csv", comma).columns.size(), 2u) << text;
  }
  EXPECT_EQ(parse_text("2,\"1,5\"\n4,\"-2250,0\"\n", "f.csv", comma).columns[1], want);
  EXPECT_EQ(refused("\"1,5\",\"2,5\"\n\"2,5\",\"3,5\"\n", {}),
            "f.csv:1:column 0: \"1,5\" has a comma in a number; --decimal , reads decimal commas; thousands "
            "separators are not read");
}

TEST(CommentsOption, SaysWhatLinesAre) {
  const std::string text = "# above\na,b\n1,2\n#3,4\n%5,6\n7,8\n# end\n";
  EXPECT_THAT(refused(text, {}),
              testing::StartsWith("f.csv:4: a line that begins as a comment stands between rows"));
  EXPECT_EQ(parse_text(text, "f.csv", {.comments = Comments::anywhere}).columns[1], (Values{2, 8}));
  const std::string rows = "a,b\n1,2\n#N/A,4\n#3,5\n";
  const Table table = parse_text(rows, "f.csv", {.comments = Comments::none});
  EXPECT_EQ(table.columns[1], (Values{2, 4, 5}));
  EXPECT_EQ(message_of<InvalidArgument>([&] { select_columns(table, "a"); }),
            "f.csv:4:a: \"#3\" is not a number; --na '#3' reads it as a missing value");
  EXPECT_THAT(refused("a,1,2\n#b,3,4\nc,5,6\n", {.transpose = true}),
              testing::StartsWith("f.csv:2: a line that begins"));
  const TableOptions marked{.cells = {.missing = {"#3"}}, .comments = Comments::none};
  EXPECT_TRUE(std::isnan(parse_text(rows, "f.csv", marked).columns[0][2]));
}

TEST(TransposeOption, MakesRowsColumns) {
  const TableOptions across{.transpose = true};
  const Table plain = parse_text("1,2,3\n4,5,NA\n", "f.csv", across);
  EXPECT_EQ(plain.names, (Names{"0", "1"}));
  EXPECT_EQ(plain.columns[0], (Values{1, 2, 3}));
  EXPECT_TRUE(std::isnan(plain.columns[1][2]));
  const Table named = parse_text("a,1,2,x\nb,4,5,6\n", "f.csv", across);
  EXPECT_EQ(named.names, (Names{"a", "b"}));
  EXPECT_EQ(named.columns[1], (Values{4, 5, 6}));
  EXPECT_EQ(message_of<InvalidArgument>([&] { select_columns(named, "a"); }),
            "f.csv:1:column 3: \"x\" is not a number; --na x reads it as a missing value");
  EXPECT_EQ(select_columns(select_rows(named, ":2"), "a").size(), 1u);
  EXPECT_EQ(parse_text("2001 5 6\n2002 7 8\n", "f.csv", {.header = Header::yes, .transpose = true}).names,
            (Names{"2001", "2002"}));
  EXPECT_EQ(parse_text("1,2,\n3,4,\n", "f.csv", across).columns[1], (Values{3, 4}));
  EXPECT_EQ(refused("1,2\n3\n", across), "f.csv:2: the row has 1 cell, line 1 has 2");
  EXPECT_EQ(refused("a\nb\n", across), "f.csv: the rows hold names and no values");
  EXPECT_EQ(refused("a,1\n2,3\n", across),
            "f.csv:1:column 0: \"a\" is not a number; --na a reads it as a missing value");
}

TEST(Caps, RowsAndColumnsAreBounded) {
  EXPECT_EQ(refused(std::string(300000, ',') + "\n", {}),
            "f.csv:1: the row has more than 100000 cells, the most that are read");
  EXPECT_EQ(refused("a,b\n1,2\n" + std::string(3000000, ',') + "\n", {}),
            "f.csv:3: the row has more than 100000 cells, the most that are read");
  EXPECT_EQ(refused("a,b\n" + std::string(longest_row + 1000000, '1') + ",2\n", {}),
            "f.csv:2: the row is longer than 16 MiB");
  EXPECT_EQ(refused("a\n\"" + std::string(longest_row + 1000000, '\n'), {}),
            "f.csv:2: the row is longer than 16 MiB");
  std::string wide = "0.5";
  for (std::size_t c = 1; c < most_columns; ++c) wide += ",0.5";
  EXPECT_EQ(parse_text(wide + "\n" + wide + "\n", "f.csv").columns.size(), most_columns);
  std::string tall;
  for (std::size_t c = 0; c <= most_columns; ++c) tall += "1\n";
  EXPECT_EQ(refused(tall, {.transpose = true}),
            "f.csv:100001: more than 100000 rows; --transpose makes each of them a column");
}

TEST(Caps, LongCommentsAndEmptyLinesAreNotKept) {
  std::string text(20 << 20, '\n');
  text += "# " + std::string(1 << 20, 'x') + "\n1,2\n3,4\n";
  EXPECT_EQ(parse_text(text, "f.csv").columns[1], (Values{2, 4}));
  text.assign(20 << 20, '\n');
  EXPECT_EQ(refused(text += "1,2\n3\n", {}), "f.csv:20971522: the row has 1 cell, line 20971521 has 2");
}

/// Gives `text` in pieces of `n` bytes, as pipes may.
ByteReader in_pieces(std::string_view text, std::size_t n) {
  return ByteReader([text, n](char* to, std::size_t room) mutable {
    const std::size_t got = std::min({n, room, text.size()});
    std::copy_n(text.data(), got, to);
    text.remove_prefix(got);
    return got;
  });
}

TEST(TextRows, DoNotDependOnHowTheTextArrives) {
  std::string text = "# a comment\r\n\r\na,\"b \"\"c\"\"\n d\",e\r\n";
  for (int t = 0; t < 60000; ++t) {
    text += std::to_string(t) + ",\"" + std::to_string(t % 7) + "\",#N/A" + (t % 3 ? "\r\n" : "\n");
    if (t % 1000 == 0) text += "# between\n";
  }
  const TableOptions anywhere{.comments = Comments::anywhere};
  const Table want = parse_text(text, "f.csv", anywhere);
  ASSERT_EQ(want.rows(), 60000u);
  for (const std::size_t n : {1, 7, 4096, 16384, 262145}) {
    ByteReader bytes = in_pieces(text, n);
    const Table got = read_text(bytes, "f.csv", anywhere);
    EXPECT_EQ(got.names, want.names);
    EXPECT_EQ(got.columns[0], want.columns[0]) << n;
    EXPECT_EQ(got.columns[1], want.columns[1]) << n;
  }
  // A row may be cut by the end of a piece at every place.
  const std::string row = "12,\"3\"\"4\",5\r\n";
  for (std::size_t shift = 0; shift <= row.size(); ++shift) {
    std::string padded = "# " + std::string((16 << 10) - 2 - shift - 2 - 6, 'x') + "\r\n1,2,3\n";
    padded += row + row + row;
    EXPECT_EQ(parse_text(padded, "f.csv").rows(), 4u) << shift;
  }
}

}  // namespace
}  // namespace kolmo
