#include "kolmo/io/npy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "kolmo/base/error.hpp"
#include "kolmo/io/npy_header.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo {
namespace {

using testing_io::content_of;
using testing_io::message_of;
using testing_io::TemporaryFolder;

/// Makes an NPY file as numpy writes it: version major.0, the given header text, then the data.
std::string npy(const std::string& header, const std::string& data, int major = 1) {
  std::string file = "\x93NUMPY";
  file += char(major);
  file += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) file += char(header.size() >> 8 * i & 255);
  return file + header + data;
}

std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

template <class T>
std::string bytes_of(const std::vector<T>& values, bool big_endian = false) {
  std::string out;
  for (const T value : values) {
    std::string element(reinterpret_cast<const char*>(&value), sizeof value);
    if (big_endian) std::reverse(element.begin(), element.end());
    out += element;
  }
  return out;
}

Array parse(const std::string& file) { return parse_npy(std::as_bytes(std::span(file)), "f.npy"); }

template <class T>
std::vector<T> values_of(const Array& array) {
  EXPECT_EQ(array.tensor.dtype, dtype_of<T>);
  const auto values = array.values<T>();
  return {values.begin(), values.end()};
}

template <class T>
void reads(const std::string& descr) {
  const std::vector<T> values = {T(1), std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()};
  for (const bool big : {false, true}) {
    const std::string order = sizeof(T) == 1 ? "|" : big ? ">" : "<";
    SCOPED_TRACE(order + descr);
    EXPECT_EQ(values_of<T>(parse(npy(header(order + descr, "(3,)"), bytes_of(values, big)))), values);
  }
}

TEST(Npy, ReadsEveryDtypeInBothByteOrders) {
  reads<double>("f8");
  reads<float>("f4");
  reads<std::int64_t>("i8");
  reads<std::int32_t>("i4");
  reads<std::int16_t>("i2");
  reads<std::int8_t>("i1");
  reads<std::uint64_t>("u8");
  reads<std::uint32_t>("u4");
  reads<std::uint16_t>("u2");
  reads<std::uint8_t>("u1");
  EXPECT_EQ(values_of<bool>(parse(npy(header("|b1", "(3,)"), std::string("\0\1\2", 3)))),
            (std::vector<bool>{false, true, true}));
  const Array half = parse(npy(header(">f2", "(2,)"), std::string("\x3e\0\xc0\0", 4)));
  ASSERT_EQ(half.tensor.dtype, DType::f16);
  EXPECT_TRUE(std::ranges::equal(half.bytes(),
                                 std::array{std::byte{0}, std::byte{0x3e}, std::byte{0}, std::byte{0xc0}}));
}

TEST(Npy, ReadsAndWritesComplexNumbers) {
  const std::vector<Complex<float>> want = {{1, -2}, {0.5f, 3}};
  for (const bool big : {false, true}) {
    const std::string data = bytes_of<float>({1, -2, 0.5f, 3}, big);
    EXPECT_EQ(values_of<Complex<float>>(parse(npy(header(big ? ">c8" : "<c8", "(2,)"), data))), want);
  }
  const Array wide = parse(npy(header(">c16", "(1,)"), bytes_of<double>({1.5, -4}, true)));
  EXPECT_EQ(values_of<Complex<double>>(wide), (std::vector<Complex<double>>{{1.5, -4}}));
  const TemporaryFolder folder;
  write_npy(folder / "c.npy", wide.tensor);
  EXPECT_EQ(values_of<Complex<double>>(read_npy(folder / "c.npy")), values_of<Complex<double>>(wide));
  EXPECT_EQ(message_of<InvalidArgument>([&] { to_table(wide, "f.npy"); }),
            "f.npy: NPY array is complex; a series holds real numbers");
}

TEST(Npy, ReadsFortranOrder) {
  const std::vector<std::int32_t> memory = {1, 4, 2, 5, 3, 6};  // [[1, 2, 3], [4, 5, 6]] by columns
  const Array array = parse(npy(header("<i4", "(2, 3)", true), bytes_of(memory)));
  EXPECT_TRUE(std::ranges::equal(array.tensor.shape(), std::array{2, 3}));
  EXPECT_EQ(values_of<std::int32_t>(array), (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
  std::vector<std::int32_t> cube(2 * 3 * 4), want;
  for (int i = 0; i < 24; ++i) cube[std::size_t(i)] = i;
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 3; ++b) {
      for (int c = 0; c < 4; ++c) want.push_back(a + 2 * b + 6 * c);
    }
  }
  EXPECT_EQ(values_of<std::int32_t>(parse(npy(header("<i4", "(2, 3, 4)", true), bytes_of(cube)))), want);
  EXPECT_TRUE(parse(npy(header("<i4", "(2, 0)", true), "")).bytes().empty());
}

TEST(Npy, ReadsEveryVersionAndHeaderStyle) {
  const std::string data = bytes_of<double>({1.5});
  for (const int major : {1, 2, 3}) {
    EXPECT_EQ(values_of<double>(parse(npy(header("<f8", "(1,)"), data, major))), std::vector<double>{1.5});
  }
  EXPECT_EQ(values_of<double>(parse(npy("{\"shape\":(1L,),\"descr\":\"<f8\",\"fortran_order\":True}", data))),
            std::vector<double>{1.5});
  const Array scalar = parse(npy(header("<f8", "()"), data));
  EXPECT_TRUE(scalar.tensor.shape().empty());
  EXPECT_EQ(scalar.bytes().size(), 8u);
  EXPECT_EQ(parse(npy(header("<f8", "(0, 4096, 4)"), "")).bytes().size(), 0u);
}

TEST(Npy, RefusesWithOneClearLine) {
  const std::string eight(8, '\0'), good = npy(header("<f8", "(1,)"), eight);
  const std::string dtypes =
      "is not supported; want f8, f4, f2, i8, i4, i2, i1, u8, u4, u2, u1, b1, c16 or c8";
  const std::string malformed = "malformed NPY header", cut = "NPY file is truncated in its header";
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"", "not an NPY file: it does not start with \\x93NUMPY"},
      {"\x93NUMP", "not an NPY file: it does not start with \\x93NUMPY"},
      {"1,2\n", "not an NPY file: it does not start with \\x93NUMPY"},
      {good.substr(0, 6), cut},
      {good.substr(0, 30), cut},
      {npy(header("<f8", "(1,)"), eight, 2).substr(0, 11), cut},
      {npy(header("<f8", "(1,)"), eight, 4), "NPY version 4.0 is not supported; want 1.0 to 3.0"},
      {good.substr(0, good.size() - 1),
       "NPY file is truncated: the header says 1 elements of 8 bytes, the file holds 7 bytes of data"},
      {good + "x",
       "NPY file is too long: the header says 1 elements of 8 bytes, the file holds 9 bytes of data"},
      {npy(header("|O", "(1,)"), eight), "NPY dtype \"|O\" " + dtypes},
      {npy(header("<c32", "(1,)"), eight + eight), "NPY dtype \"<c32\" " + dtypes},
      {npy(header("<U2", "(1,)"), eight), "NPY dtype \"<U2\" " + dtypes},
      {npy(header("|S8", "(1,)"), eight), "NPY dtype \"|S8\" " + dtypes},
      {npy(header("<M8[ns]", "(1,)"), eight), "NPY dtype \"<M8[ns]\" " + dtypes},
      {npy(header("<f9", "(1,)"), eight), "NPY dtype \"<f9\" " + dtypes},
      {npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", eight),
       "structured NPY dtypes are not supported"},
      {npy("", eight), malformed},
      {npy("{}", eight), malformed},
      {npy("{'descr': '<f8', 'shape': (1,)}", eight), malformed},
      {npy("{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}", eight), malformed},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}", eight), malformed},
      {npy(header("<f8", "(1,)") + "x", eight), malformed},
      {npy(header("<f8", "(1"), eight), malformed},
      {npy(header("<f8", "(-1,)"), eight), malformed},
      {npy(header("<f8", "(1.5,)"), eight), malformed},
      {npy(header("<f8", "(99999999999999999999,)"), eight), malformed},
      {npy(header("<f8", "(4294967296, 4294967296)"), eight),
       "NPY shape has more elements than fit in memory"},
      {npy(header("<f8", "(1, 1, 1, 1, 1, 1, 1)"), eight),
       "NPY shape has 7 dimensions, at most 6 are supported"},
      {npy(header("<f8", "(2305843009213693953,)"), eight), "NPY shape has more elements than fit in memory"},
      {npy(header("<f8", "(0, 92467440737095188, 516)"), ""),
       "NPY shape has more elements than fit in memory"},
      {npy(header("<f8", "(1152921504606846975,)"), eight),
       "NPY file is truncated: the header says 1152921504606846975 elements of 8 bytes, the file holds 8 "
       "bytes "
       "of data"},
  };
  for (const auto& [file, message] : refused) {
    EXPECT_EQ(message_of<InvalidArgument>([&] { parse(file); }), "f.npy: " + message);
  }
}

TEST(Npy, WritesWhatItReads) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  double values[] = {1, 2, 3, 4, 5, 6};
  write_npy(path, tensor(values, {2, 3}));
  const std::string file = content_of(path);
  EXPECT_EQ(file.size() % 64, 6 * 8u);
  EXPECT_EQ(file.substr(10, 54), "{'descr': '<f8', 'fortran_order': False, 'shape': (2, ");
  Array array = read_npy(path);
  EXPECT_TRUE(std::ranges::equal(array.tensor.shape(), std::array{2, 3}));
  EXPECT_EQ(values_of<double>(array), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(array.tensor.extent[1], 3);

  Tensor transposed = tensor(values, {3, 2});
  transposed.stride = {1, 3};
  write_npy(path, transposed);
  EXPECT_EQ(values_of<double>(read_npy(path)), (std::vector<double>{1, 4, 2, 5, 3, 6}));

  BFloat16 brain[] = {BFloat16(1.5f), BFloat16(-3.0f)};
  write_npy(path, tensor(brain, {2}));
  EXPECT_EQ(values_of<float>(read_npy(path)), (std::vector<float>{1.5f, -3.0f}));

  std::int64_t scalar = -7;
  write_npy(path, tensor(&scalar, {}));
  EXPECT_EQ(values_of<std::int64_t>(read_npy(path)), std::vector<std::int64_t>{-7});
  EXPECT_TRUE(read_npy(path).tensor.shape().empty());

  Tensor device = tensor(values, {6});
  device.device = {DeviceKind::cuda, 0};
  EXPECT_EQ(message_of<InvalidArgument>([&] { write_npy(path, device); }),
            path + ": write_npy wants a tensor on the host");
  EXPECT_EQ(folder.entries(), 1u);
}

Table table_of(const std::string& file) { return to_table(parse(file), "f.npy"); }

TEST(NpyTable, RowsAreTime) {
  const Table one = table_of(npy(header("<f4", "(3,)"), bytes_of<float>({1, 2, std::nanf("")})));
  ASSERT_EQ(one.columns.size(), 1u);
  EXPECT_EQ(one.columns[0][1], 2);
  EXPECT_TRUE(std::isnan(one.columns[0][2]));
  EXPECT_EQ(select_columns(one, "").size(), 1u);
  const Table two = table_of(npy(header("<i4", "(3, 2)"), bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(two.columns, (std::vector<std::vector<double>>{{1, 3, 5}, {2, 4, 6}}));
  EXPECT_EQ(two.names, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(table_of(npy(header("<f2", "(1,)"), std::string("\0\x3e", 2))).columns[0][0], 1.5);
}

TEST(NpyTable, EveryRealDtypeBecomesDouble) {
  using Column = std::vector<double>;
  const auto column = [](const char* descr, const std::string& data) {
    return table_of(npy(header(descr, "(2,)"), data)).columns[0];
  };
  EXPECT_EQ(column("|b1", std::string("\0\2", 2)), (Column{0, 1}));
  EXPECT_EQ(column("|i1", bytes_of<std::int8_t>({-128, 127})), (Column{-128, 127}));
  EXPECT_EQ(column("|u1", bytes_of<std::uint8_t>({0, 255})), (Column{0, 255}));
  EXPECT_EQ(column("<i2", bytes_of<std::int16_t>({-32768, 32767})), (Column{-32768, 32767}));
  EXPECT_EQ(column(">u2", bytes_of<std::uint16_t>({0, 65535}, true)), (Column{0, 65535}));
  EXPECT_EQ(column("<u4", bytes_of<std::uint32_t>({0, 4294967295})), (Column{0, 4294967295}));
  EXPECT_EQ(column("<i8", bytes_of<std::int64_t>({INT64_MIN, 1LL << 53})), (Column{-0x1p63, 0x1p53}));
  EXPECT_EQ(column("<u8", bytes_of<std::uint64_t>({1ULL << 63, 3})), (Column{0x1p63, 3}));
}

TEST(NpyTable, TrialsFollowOneAnother) {
  using Columns = std::vector<std::vector<double>>;
  const std::string data = bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Table t = table_of(npy(header("<i4", "(2, 3, 2)"), data));
  EXPECT_EQ(t.columns, (Columns{{1, 3, 5, 7, 9, 11}, {2, 4, 6, 8, 10, 12}}));
  EXPECT_EQ(t.trial, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_TRUE(t.remarks.empty());
  const Table across = to_table(parse(npy(header("<i4", "(2, 2, 3)"), data)), "f.npy", {.transpose = true});
  EXPECT_EQ(across.columns, (Columns{{1, 2, 3, 7, 8, 9}, {4, 5, 6, 10, 11, 12}}));
  EXPECT_EQ(across.trial, t.trial);
  EXPECT_TRUE(table_of(npy(header("<i4", "(6, 2)"), data)).trial.empty());
  const Table fault = table_of(npy(header("<f4", "(2, 1, 1)"), bytes_of<float>({1, INFINITY})));
  EXPECT_EQ(
      message_of<InvalidArgument>([&] { select_columns(fault, ""); }),
      "f.npy:2:column 0: inf is infinite; a series holds finite numbers or NaN; --columns chooses other "
      "columns");
}

TEST(NpyTable, RemarksOnMoreColumnsThanRows) {
  const std::string data = bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6, 7, 8});
  const Table wide = table_of(npy(header("<i4", "(2, 4)"), data));
  ASSERT_EQ(wide.remarks.size(), 1u);
  EXPECT_EQ(wide.remarks[0].name, "transposed");
  EXPECT_NE(wide.remarks[0].text.find("2 rows and 4 columns"), std::string::npos);
  const Table turned = to_table(parse(npy(header("<i4", "(2, 4)"), data)), "f.npy", {.transpose = true});
  EXPECT_EQ(turned.columns, (std::vector<std::vector<double>>{{1, 2, 3, 4}, {5, 6, 7, 8}}));
  EXPECT_TRUE(turned.remarks.empty());
  EXPECT_TRUE(table_of(npy(header("<i4", "(4, 2)"), data)).remarks.empty());
  EXPECT_TRUE(table_of(npy(header("<i4", "(2, 3)"), data.substr(0, 24))).remarks.empty());
  EXPECT_TRUE(table_of(npy(header("<i4", "(8,)"), data)).remarks.empty());
}

TEST(NpyTable, NumbersMayMeanMissing) {
  const Array array = parse(npy(header("<i4", "(3,)"), bytes_of<std::int32_t>({1, -999, 3})));
  const Table t = to_table(array, "f.npy", {.cells = {.missing = {"x", "-999.0"}}});
  EXPECT_TRUE(std::isnan(t.columns[0][1]));
  EXPECT_EQ(t.columns[0][2], 3);
  EXPECT_EQ(select_columns(t, "").size(), 1u);
}

TEST(NpyTable, RefusesWithOneClearLine) {
  const double inf = std::numeric_limits<double>::infinity();
  const Table table = table_of(npy(header("<f8", "(2, 2)"), bytes_of<double>({1, 2, 3, -inf})));
  EXPECT_EQ(select_columns(table, "0").size(), 1u);
  EXPECT_EQ(message_of<InvalidArgument>([&] { select_columns(table, "1"); }),
            "f.npy:2:column 1: -inf is infinite; a series holds finite numbers or NaN");
  const Table large = table_of(npy(header("<i8", "(2,)"), bytes_of<std::int64_t>({1, 9007199254740993})));
  EXPECT_EQ(message_of<InvalidArgument>([&] { select_columns(large, "0"); }),
            "f.npy:2:column 0: 9007199254740993 cannot be held by a double exactly");
  const Table limit = table_of(npy(header("<i8", "(1,)"), bytes_of<std::int64_t>({INT64_MAX})));
  EXPECT_FALSE(limit.faults[0].empty());
  const Table natural =
      table_of(npy(header("<u8", "(2,)"), bytes_of<std::uint64_t>({UINT64_MAX, (1ULL << 63) + 5})));
  EXPECT_EQ(natural.faults[0].size(), 2u);
  EXPECT_EQ(message_of<InvalidArgument>([&] { table_of(npy(header("<f8", "()"), std::string(8, '\0'))); }),
            "f.npy: NPY array has 0 dimensions; series want 1 (time), 2 (time, columns) or 3 (trials, time, "
            "columns)");
  EXPECT_EQ(message_of<InvalidArgument>(
                [&] { table_of(npy(header("<f8", "(1, 1, 1, 1)"), std::string(8, '\0'))); }),
            "f.npy: NPY array has 4 dimensions; series want 1 (time), 2 (time, columns) or 3 (trials, time, "
            "columns)");
  EXPECT_EQ(message_of<InvalidArgument>(
                [&] { table_of(npy(header("|u1", "(1, 100001)"), std::string(100001, '\1'))); }),
            "f.npy: NPY array has 100001 columns, at most 100000 are read; --transpose makes rows columns");
  for (const char* shape : {"(0,)", "(0, 3)", "(3, 0)", "(0, 1000000000000)", "(2, 0, 3)"}) {
    EXPECT_EQ(message_of<InvalidArgument>([&] { table_of(npy(header("<f8", shape), "")); }),
              "f.npy: NPY array is empty");
  }
}

}  // namespace
}  // namespace kolmo
