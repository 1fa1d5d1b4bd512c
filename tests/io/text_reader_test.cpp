#include "kolmo/io/text_reader.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <set>

#include "kolmo/base/error.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo {
namespace {

using testing_io::message_of;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
using Columns = std::vector<std::vector<double>>;

void expect_columns(const Table& table, const Columns& want) {
  ASSERT_EQ(table.columns.size(), want.size());
  for (std::size_t c = 0; c < want.size(); ++c) {
    ASSERT_EQ(table.columns[c].size(), want[c].size()) << "column " << c;
    for (std::size_t t = 0; t < want[c].size(); ++t) {
      if (std::isnan(want[c][t])) {
        EXPECT_TRUE(std::isnan(table.columns[c][t])) << "column " << c << " row " << t;
      } else {
        EXPECT_EQ(table.columns[c][t], want[c][t]) << "column " << c << " row " << t;
      }
    }
  }
}

struct Accepted {
  const char* what;
  std::string text;
  std::vector<std::string> names;
  Columns columns;
};

const std::vector<Accepted> accepted = {
    {"CSV with a header", "a,b\n1,2\n3,4\n", {"a", "b"}, {{1, 3}, {2, 4}}},
    {"CSV without a header", "1,2\n3,4\n", {"0", "1"}, {{1, 3}, {2, 4}}},
    {"no line end at the end", "1,2\n3,4", {"0", "1"}, {{1, 3}, {2, 4}}},
    {"CRLF", "a,b\r\n1,2\r\n3,4\r\n", {"a", "b"}, {{1, 3}, {2, 4}}},
    {"CR", "a,b\r1,2\r3,4\r", {"a", "b"}, {{1, 3}, {2, 4}}},
    {"byte order mark",
     "\xEF\xBB\xBF"
     "a,b\n1,2\n",
     {"a", "b"},
     {{1}, {2}}},
    {"TSV with a missing cell", "a\tb\tc\n1\t\t3\n", {"a", "b", "c"}, {{1}, {nan}, {3}}},
    {"semicolons", "a;b\n1.5;2\n", {"a", "b"}, {{1.5}, {2}}},
    {"blanks", "  1.5   2\n\t3  4 \n", {"0", "1"}, {{1.5, 3}, {2, 4}}},
    {"one column", "1\n2\n3\n", {"0"}, {{1, 2, 3}}},
    {"one named column", "x\n1\n", {"x"}, {{1}}},
    {"comments", "% of JIDT\n# of numpy\n1 2\n3 4\n  % at the end\n# end", {"0", "1"}, {{1, 3}, {2, 4}}},
    {"comments in CSV", "# 2 columns, made up\na,b\n1,2\n", {"a", "b"}, {{1}, {2}}},
    {"blanks around cells", "a , b\n 1 ,\t2 \n", {"a", "b"}, {{1}, {2}}},
    {"empty lines around", "\n\na,b\n\n1,2\n \n\n", {"a", "b"}, {{1}, {2}}},
    {"missing values",
     "a,b\n,NA\nnan,NaN\n-nan,N/A\nnull,None\n#N/A,.\n1,NAN\n",
     {"a", "b"},
     {{nan, nan, nan, nan, nan, 1}, {nan, nan, nan, nan, nan, nan}}},
    {"a row of missing values", "a,b\n1,2\n,\n3,4\n", {"a", "b"}, {{1, nan, 3}, {2, nan, 4}}},
    {"a first row of missing values", "NA,\n1,2\n", {"0", "1"}, {{nan, 1}, {nan, 2}}},
    {"quoted cells",
     "\"a, \"\"b\"\"\",\"c\nd\"\n\"1\",\"2.5\"\n3,\"\"\n",
     {"a, \"b\"", "c\nd"},
     {{1, 3}, {2.5, nan}}},
    {"quoted cells between blanks", "\"a b\" c\n\"1\" 2\n", {"a b", "c"}, {{1}, {2}}},
    {"a quote within a cell", "5\" pipe,b\n1,2\n", {"5\" pipe", "b"}, {{1}, {2}}},
    {"forms of numbers", "+1,-2.5e-3,.5\n1E+2,007,5.\n", {"0", "1", "2"}, {{1, 100}, {-2.5e-3, 7}, {.5, 5}}},
    {"limits of doubles",
     "1.7976931348623157e308 4.9e-324 1e-999\n",
     {"0", "1", "2"},
     {{1.7976931348623157e308}, {4.9e-324}, {0}}},
    {"nearest double", "0.1,9007199254740993\n", {"0", "1"}, {{0.1}, {9007199254740992}}},
    {"a separator at the end of each row", "1,2,\n3,4,\n", {"0", "1"}, {{1, 3}, {2, 4}}},
    {"... and of the header", "a,b,\n1,2,\n", {"a", "b"}, {{1}, {2}}},
    {"a named column without values stays", "a,b\n1,\n2,\n", {"a", "b"}, {{1, 2}, {nan, nan}}},
    {"a nameless first column", ",a\n0,5\n1,6\n", {"0", "a"}, {{0, 1}, {5, 6}}},
    {"a comma in a semicolon file's header", "a, in m;b\n1;2\n", {"a, in m", "b"}, {{1}, {2}}},
    {"a semicolon in a comma file's header", "a;b,c\n1,2\n", {"a;b", "c"}, {{1}, {2}}},
    {"UTF-8 names", "Größe,温度\n1,2\n", {"Größe", "温度"}, {{1}, {2}}},
    {"duplicate names", "a,a\n1,2\n", {"a", "a"}, {{1}, {2}}},
};

TEST(TextReader, ReadsWhatItShould) {
  for (const Accepted& a : accepted) {
    SCOPED_TRACE(a.what);
    const Table table = parse_text(a.text, "f.csv");
    EXPECT_EQ(table.names, a.names);
    expect_columns(table, a.columns);
    EXPECT_EQ(table.file, "f.csv");
    const bool different = std::set(table.names.begin(), table.names.end()).size() == table.names.size();
    if (!different) continue;
    EXPECT_EQ(select_columns(table, "").size(), a.columns.size());
  }
}

struct Refused {
  const char* what;
  std::string text, message;
};

const std::vector<Refused> refused = {
    {"empty file", "", "f.csv: the file is empty"},
    {"only tabs", " \t\t", "f.csv: the file holds no rows, only tabs"},
    {"byte order mark only", "\xEF\xBB\xBF", "f.csv: the file is empty"},
    {"comments only", "# a\n\n% b\n", "f.csv: the file holds no rows, only comments or empty lines"},
    {"header only", "a,b\n", "f.csv: the file has a header and no rows"},
    {"a row too short", "a,b\n1,2\n3\n", "f.csv:3: the row has 1 cell, line 1 has 2"},
    {"a row too long", "1 2\n3 4 5\n", "f.csv:2: the row has 3 cells, line 1 has 2"},
    {"a header too short", "a\n1,2\n",
     "f.csv:2: the row has 2 cells, line 1 has 1 (are these decimal commas? write 1.5, not 1,5)"},
    {"an empty line between rows", "1,2\n\n3,4\n",
     "f.csv:2: an empty line between rows; remove it, or write NaN for what is missing"},
    {"a comment between rows", "# above\na,b\n# below the header\n1,2\n  # 3,4\n5,6\n",
     "f.csv:5: a line that begins as a comment stands between rows, and time would jump over it; --comments "
     "none "
     "reads such lines as rows, --comments anywhere leaves them out"},
    {"an open quote", "a,b\n1,\"2\n3,4\n", "f.csv:2: a quote is opened and never closed"},
    {"text after a quote", "a,b\n\"1\"x,2\n", "f.csv:2: text follows a closing quote"},
    {"a zero byte", std::string("a,b\n1,\0002\n", 10), "f.csv:2: not a text file (it holds a zero byte)"},
    {"UTF-16",
     "\xFF\xFE"
     "1",
     "f.csv: is UTF-16 text, not UTF-8; Kolmo reads CSV, TSV and NPY: iconv -f UTF-16 -t UTF-8 'f.csv' > "
     "'f_utf8.csv'"},
    {"gzip", "\x1f\x8b\x08",
     "f.csv: is a gzip archive within another; Kolmo reads CSV, TSV and NPY: gunzip -c 'f.csv' > 'f.csv.gz'"},
    {"zip", "PK\3\4abc", "f.csv: is a zip archive; Kolmo reads CSV, TSV and NPY: unzip 'f.csv'"},
    {"a name in Latin-1",
     "Gr\xF6\xDF"
     "e,b\n1,2\n",
     "f.csv:1: column 0: the name \"Gr\\xf6\\xdfe\" is not UTF-8"},
    // These are faults of a column, raised when the column is used.
    {"text", "a,b\n1,2\n3,oops\n",
     "f.csv:3:b: \"oops\" is not a number; --na oops reads it as a missing value"},
    {"text, no header", "1,2\n3,oops\n",
     "f.csv:2:column 1: \"oops\" is not a number; --na oops reads it as a missing value"},
    {"text in the first row", "1,oops\n3,4\n",
     "f.csv:1:column 1: \"oops\" is not a number; --na oops reads it as a missing value; a header holds no "
     "numbers, "
     "unless --header yes says so"},
    {"a number in the header", "x,2000\n3,4\n",
     "f.csv:1:column 0: \"x\" is not a number; --na x reads it as a missing value; a header holds no "
     "numbers, "
     "unless --header yes says so"},
    {"dates without a header", "2001-01-01,1\n2001-01-02,2\n",
     "f.csv:1:column 0: \"2001-01-01\" is not a number"},
    {"text after lines in quotes", "a,\"b\nc\"\n1,x\n",
     "f.csv:3:b\\x0ac: \"x\" is not a number; --na x reads it as a missing value"},
    {"a date", "date,a\n2001-01-01,1\n", "f.csv:2:date: \"2001-01-01\" is not a number"},
    {"bytes in a cell", "1,\x01\xFF\n", "f.csv:1:column 1: \"\\x01\\xff\" is not a number"},
    {"a long cell", "1," + std::string(100, 'x') + "\n",
     "f.csv:1:column 1: \"" + std::string(40, 'x') + "...\" is not a number"},
    {"inf", "a,b\n1,inf\n", "f.csv:2:b: \"inf\" is infinite; a series holds finite numbers or NaN"},
    {"-Infinity", "a,b\n1,-Infinity\n",
     "f.csv:2:b: \"-Infinity\" is infinite; a series holds finite numbers or NaN"},
    {"+Inf", "a,b\n1,+Inf\n", "f.csv:2:b: \"+Inf\" is infinite; a series holds finite numbers or NaN"},
    {"overflow", "a,b\n1,1e999\n", "f.csv:2:b: \"1e999\" is too large for a double"},
    {"decimal commas, semicolons", "a;b\n1,5;2,3\n",
     "f.csv:2:a: \"1,5\" has a comma in a number; --decimal , reads decimal commas; thousands "
     "separators are not read"},
    {"decimal commas, tabs", "1,5\t2,3\n2,5\t3,3\n",
     "f.csv:1:column 0: \"1,5\" has a comma in a number; --decimal , reads decimal commas; thousands "
     "separators are not read"},
    {"decimal commas, quoted", "a,b\n\"1,5\",2\n",
     "f.csv:2:a: \"1,5\" has a comma in a number; --decimal , reads decimal commas; thousands "
     "separators are not read"},
    {"decimal commas, blanks", "1,5 2,3\n2,5 3,3\n",
     "f.csv:1:column 1: \"5 2\" is more than one number; separate columns with one kind of separator, and "
     "see --decimal"},
    {"decimal commas, commas", "a,b\n1,5,2,3\n",
     "f.csv:2: the row has 4 cells, line 1 has 2 (are these decimal commas? write 1.5, not 1,5)"},
    {"a Fortran exponent", "1.0D+00 2\n", "f.csv:1:column 0: \"1.0D+00\" is not a number"},
    {"a hexadecimal number", "0x10,2\n", "f.csv:1:column 0: \"0x10\" is not a number"},
};

TEST(TextReader, RefusesWithOneClearLine) {
  for (const Refused& r : refused) {
    SCOPED_TRACE(r.what);
    const std::string message = message_of<InvalidArgument>([&] {
      const Table table = parse_text(r.text, "f.csv");
      for (std::size_t c = 0; c < table.columns.size(); ++c) select_columns(table, std::to_string(c));
    });
    EXPECT_EQ(message, r.message);
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(TextReader, WhatMayMeanAMissingValueIsNamed) {
  const auto hint = [](const std::string& cell) {
    const Table table = parse_text("a;b\n1;2\n1;" + cell + "\n", "f.csv");
    const std::string what = message_of<InvalidArgument>([&] { select_columns(table, "b"); });
    return what.substr(what.find("is not a number") + 15);
  };
  EXPECT_EQ(hint("n.d."), "; --na n.d. reads it as a missing value");
  EXPECT_EQ(hint("---"), "; --na='---' reads it as a missing value");
  EXPECT_EQ(hint("not known"), "; --na 'not known' reads it as a missing value");
  EXPECT_EQ(hint("<0.5"), "; --na '<0.5' reads it as a missing value");
  for (const char* other : {"2001-01-01T10:00", "1.2.3", "a,b", "it's"}) EXPECT_EQ(hint(other), "") << other;
}

struct Other {
  std::string name, start, message;
};

TEST(TextReader, OtherFormatsAreNamedWithTheLineThatConvertsThem) {
  const std::string edf = "0       " + std::string(160, ' ') + "02.03.2410.11.12768     ";
  const std::string user_block = std::string(512, '\0') + "\x89HDF\r\n\x1a\n" + std::string(20, '\0');
  const auto zip = [](const std::string& first) {
    return "PK\3\4" + std::string(22, '\0') + char(first.size()) + std::string(3, '\0') + first + "...";
  };
  for (const Other& o : std::vector<Other>{
           {"d.mat", "MATLAB 5.0 MAT-file, Platform: GLNXA64",
            "is a MATLAB file; Kolmo reads CSV, TSV and NPY: python3 -c "
            "\"import scipy.io, numpy as np; np.save('d.npy', scipy.io.loadmat('d.mat')['NAME'])\""},
           {"d.mat", "MATLAB 7.3 MAT-file" + user_block.substr(19), "is an HDF5 file"},
           {"v4.mat", std::string("\0\0\0\0\1\0\0\0", 8), "is a MATLAB file"},
           {"d.h5", "\x89HDF\r\n\x1a\n", "h5py.File('d.h5')"},
           {"d.nc", "CDF\1", "is a netCDF file"},
           {"d.nc", "CDF\2", "xr.open_dataset('d.nc')"},
           {"d.parquet", "PAR1", "pd.read_parquet('d.parquet').to_csv('d.csv', index=False)"},
           {"d.feather", "ARROW1", "pd.read_feather"},
           {"d.edf", edf, "mne.io.read_raw_edf('d.edf')"},
           {"d.bdf",
            "\xFF"
            "BIOSEMI",
            "mne.io.read_raw_bdf('d.bdf')"},
           {"d.npz", zip("x.npy"), "is an NPZ archive of NumPy arrays"},
           {"d.xlsx", zip("[Content_Types].xml"), "pd.read_excel('d.xlsx')"},
           {"d.ods", zip("mimetype"), "is an OpenDocument table"},
           {"d.xls", "\xD0\xCF\x11\xE0", "is an Excel file"},
           {"d.pkl", "\x80\4", "is a pickle of Python"},
           {"a name's.h5", "\x89HDF\r\n\x1a\n", "h5py.File('FILE')"}}) {
    const std::string message = message_of<InvalidArgument>([&] { parse_text(o.start + "\n1,2\n", o.name); });
    EXPECT_NE(message.find(o.message), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with(o.name + ": is a")) << message;
  }
  EXPECT_EQ(parse_text("0       1.5\n1       2.5\n", "f.txt").columns[1], (std::vector<double>{1.5, 2.5}));
}

TEST(TextReader, TextColumnDoesNotStopTheOthers) {
  const Table table = parse_text("date,a\n2001-01-01,1\n2001-01-02,2\n", "f.csv");
  EXPECT_EQ(select_columns(table, "a"), std::vector<std::size_t>{1});
  EXPECT_EQ(message_of<InvalidArgument>([&] { select_columns(table, ""); }),
            "f.csv:2:date: \"2001-01-01\" is not a number; --columns chooses other columns");
}

TEST(TextReader, ReadsAMillionRows) {
  std::string text = "a,b\n";
  for (int t = 0; t < 1'000'000; ++t) text += std::to_string(t) + ".125," + std::to_string(-t) + "e-3\n";
  const auto start = std::chrono::steady_clock::now();
  const Table table = parse_text(text, "f.csv");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  ASSERT_EQ(table.rows(), 1'000'000u);
  EXPECT_EQ(table.columns[0].back(), 999999.125);
  EXPECT_EQ(table.columns[1].back(), -999.999);
  RecordProperty("seconds", std::to_string(seconds.count()));
  EXPECT_LT(seconds.count(), 20) << "about 0.2 s where nothing else runs";
}

}  // namespace
}  // namespace kolmo
