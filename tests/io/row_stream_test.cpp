#include "kolmo/io/row_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kolmo/base/error.hpp"
#include "kolmo/io/text_reader.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo {
namespace {

const std::atomic<bool> never = false;

using Rows = std::vector<std::vector<double>>;

Rows rows_of(const Table& t) {
  Rows rows(t.rows());
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (const auto& column : t.columns) rows[r].push_back(column[r]);
  return rows;
}

Rows all_of(RowStream& stream) {
  std::vector<std::size_t> columns(stream.head().columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) columns[c] = c;
  Rows rows;
  for (std::vector<double> row; stream.next(columns, row);) rows.push_back(row);
  return rows;
}

void expect_equal(const Rows& got, const Rows& want, const std::string& text) {
  ASSERT_EQ(got.size(), want.size()) << text;
  for (std::size_t r = 0; r < got.size(); ++r) {
    ASSERT_EQ(got[r].size(), want[r].size()) << text;
    for (std::size_t c = 0; c < got[r].size(); ++c)
      EXPECT_TRUE(got[r][c] == want[r][c] || (std::isnan(got[r][c]) && std::isnan(want[r][c])))
          << text << " row " << r << " column " << c;
  }
}

const std::string texts[] = {
    "a,b\n1,2\n3,4\n5,6\n",
    "1,2\n3,4\n5,6",
    "% comment\n\n  1 2\n3   4\n 5  6 \n# end\n",
    "\xEF\xBB\xBF\"a,b\",c\r\n1,\"2\"\r\n,NA\r\n5,6\r\n",
    "x;y;\n1;2;\n3;4;\n5;6;\n",
    "#N/A,1\n2,3\n4,5\n",
    "t,v\n1,2\n",
};

TEST(RowStream, GivesTheRowsOfTheTable) {
  const testing_io::TemporaryFolder folder;
  for (const std::string& text : texts) {
    const std::string path = folder / "series.csv";
    std::ofstream(path) << text;
    RowStream stream(path, false, never);
    const Table table = parse_text(text, path);
    EXPECT_EQ(stream.head().names, table.names);
    expect_equal(all_of(stream), rows_of(table), text);
  }
}

TEST(RowStream, DoesNotDependOnHowTheTextArrives) {
  for (const std::string& text : texts) {
    for (std::size_t piece = 1; piece < 6; ++piece) {
      int ends[2];
      ASSERT_EQ(pipe(ends), 0);
      std::thread writer([&] {
        for (std::size_t at = 0; at < text.size(); at += piece) {
          const std::string part = text.substr(at, piece);
          EXPECT_EQ(write(ends[1], part.data(), part.size()), ssize_t(part.size()));
          std::this_thread::yield();
        }
        close(ends[1]);
      });
      {
        RowStream stream("/dev/fd/" + std::to_string(ends[0]), false, never);
        expect_equal(all_of(stream), rows_of(parse_text(text, "")), text);
      }
      writer.join();
      close(ends[0]);
    }
  }
}

TEST(RowStream, ReadsOnWhereTheFileGrows) {
  const testing_io::TemporaryFolder folder;
  const std::string path = folder / "growing.csv";
  std::ofstream(path) << "a,b\n1,2\n3,";
  std::atomic<bool> stop = false;
  RowStream stream(path, true, stop);
  const std::size_t columns[] = {1};
  std::vector<double> row;
  ASSERT_TRUE(stream.next(columns, row));
  EXPECT_EQ(row, std::vector{2.});
  std::ofstream(path, std::ios::app) << "4\n5,6";
  ASSERT_TRUE(stream.next(columns, row));
  EXPECT_EQ(row, std::vector{4.});
  std::thread later([&] {
    std::ofstream(path, std::ios::app) << "7\n8,";
    usleep(50000);
    stop = true;
  });
  ASSERT_TRUE(stream.next(columns, row)) << "the row was not complete";
  EXPECT_EQ(row, std::vector{67.});
  EXPECT_FALSE(stream.next(columns, row)) << "stopped: what is left is no row";
  later.join();
}

TEST(RowStream, GoesOnWithTheFileThatTookTheName) {
  const testing_io::TemporaryFolder folder;
  const std::string path = folder / "log.csv", old = folder / "log.csv.1";
  std::ofstream(path) << "a,b\n1,2\n3,4\n";
  RowStream stream(path, true, never);
  const std::size_t columns[] = {0, 1};
  std::vector<double> row;
  const auto next_is = [&](double a, double b) {
    EXPECT_TRUE(stream.next(columns, row));
    EXPECT_EQ(row, (std::vector{a, b}));
  };
  next_is(1, 2);
  std::filesystem::rename(path, old);
  std::ofstream(old, std::ios::app) << "5,6\n7,8";  // its writer has it still open
  std::ofstream(path) << "a,b\n9,10\n";
  for (const double a : {3., 5., 7., 9.}) next_is(a, a + 1);
  std::filesystem::remove(path);
  std::ofstream(path) << "11,12\n13,14\n";
  next_is(11, 12);
  std::filesystem::remove(path);
  std::ofstream(path) << "15\n";
  next_is(13, 14);
  EXPECT_EQ(testing_io::message_of<InvalidArgument>([&] { stream.next(columns, row); }),
            path + ":1: the row has 1 cell, the first one has 2");
}

TEST(RowStream, NamesLineAndColumnOfWhatIsWrong) {
  const testing_io::TemporaryFolder folder;
  const auto message = [&](const std::string& text) -> std::string {
    const std::string path = folder / "x.csv";
    std::ofstream(path) << text;
    try {
      RowStream stream(path, false, never);
      all_of(stream);
    } catch (const InvalidArgument& e) {
      return std::string(e.what()).substr(path.size());
    }
    return "nothing";
  };
  EXPECT_EQ(message("a,b\n1,2\n3,x\n"), ":3: b: \"x\" is not a number; --na x reads it as a missing value");
  for (const char* text : {"1,2\n#3,4\n5,6\n", "1,2\n# a\n5,6\n"})
    EXPECT_THAT(message(text),
                testing::StartsWith(":2: a line that begins as a comment stands between rows"));
  EXPECT_THAT(message("1,2\n3,4\n%3,4\n5,6\n"), testing::StartsWith(":3: a line that begins as a comment"));
  EXPECT_EQ(message("1,2\n3,4\n5\n"), ":3: the row has 1 cell, the first one has 2");
  EXPECT_EQ(message("1,2\n3,4\n\n\n5,6\n"),
            ":3: an empty line between rows; remove it, or write NaN for what is missing");
  EXPECT_EQ(message("1,2\n3,4\n\n\n"), "nothing");
  EXPECT_EQ(message("1,2\n3,4\n5,\"6\n"), ":3: a quote is opened and never closed");
  EXPECT_EQ(message("1,2\n3,4\n5,inf\n"),
            ":3: column 1: \"inf\" is infinite; a series holds finite numbers or NaN");
}

}  // namespace
}  // namespace kolmo
