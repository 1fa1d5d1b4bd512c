#include "kolmo/check/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kolmo/check/placement.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"

namespace kolmo::check {
namespace {

/// Makes outputs of vector_add: n numbers of a dtype.
HostTensors outputs(DType dtype, std::initializer_list<double> values) {
  HostTensors all(3);
  const auto n = std::int64_t(values.size());
  all[2] = Array(dtype, std::array{complexes.has(dtype) ? n / 2 : n});
  std::int64_t i = 0;
  for (const double v : values) put(parts(all[2].tensor), i++, v);
  return all;
}
Comparison compare_all(const HostTensors& got, const HostTensors& want, Tolerance tolerance) {
  return compare(vector_add, got, want, {.tolerance = tolerance});
}
std::string compared(double got, double want, Tolerance tolerance) {
  return compare_all(outputs(DType::f64, {got}), outputs(DType::f64, {want}), tolerance).message;
}

TEST(Compare, CountsTheWrongElements) {
  HostTensors got = outputs(DType::f64, {0, 1, 2, 3}), want = outputs(DType::f64, {0, 1, 2, 3});
  EXPECT_EQ(compare_all(got, want, {}).message, "");
  EXPECT_EQ(bit_difference(vector_add, got, want), "");
  put(got[2].tensor, 1, 1.5), put(got[2].tensor, 3, 6);
  const Comparison c = compare_all(got, want, 0.1);
  EXPECT_EQ(c.message, "z(1) is 1.5, expected 1 within 0.10000000000000001; so are 1 more of 4 elements");
  EXPECT_DOUBLE_EQ(c.max_error, 10) << "an error of 3 where 0.3 is allowed";
  EXPECT_EQ(bit_difference(vector_add, got, want), "z(1) is 1.5 and was 1");
}

TEST(Compare, ANumberAloneIsAbsoluteBelowOneAndRelativeAboveIt) {
  EXPECT_EQ(compared(1e-20, 0, 1e-12), "");
  EXPECT_EQ(compared(1e6 + 1e-7, 1e6, 1e-12), "");
  EXPECT_NE(compared(1e6 + 1e-5, 1e6, 1e-12), "");
}

TEST(Compare, ARelativeToleranceShrinksWithTheResult) {
  const double small = std::exp(-50.0);
  EXPECT_EQ(compared(0, small, 1e-6), "") << "the trap: an exp that returns 0";
  EXPECT_NE(compared(0, small, relative(1e-6)), "");
  EXPECT_EQ(compared(small * (1 + 1e-7), small, relative(1e-6)), "");
  EXPECT_NE(compared(small * (1 + 1e-5), small, relative(1e-6)), "");
  EXPECT_EQ(compared(-small, -small, relative(1e-6)), "");
  EXPECT_NE(compared(small, -small, relative(1e-6)), "");
  EXPECT_NE(compared(1e-300, 0, relative(1e-6)), "") << "zero is exact";
}

TEST(Compare, AnAbsoluteToleranceStaysWhereItIs) {
  EXPECT_EQ(compared(1e6 + 1e-7, 1e6, absolute(1e-6)), "");
  EXPECT_NE(compared(1e6 + 1e-3, 1e6, absolute(1e-6)), "");
}

TEST(Compare, InfinitiesAndNansMatchThemselvesOnly) {
  EXPECT_EQ(compared(INFINITY, INFINITY, relative(1e-6)), "");
  EXPECT_EQ(compared(NAN, NAN, 0), "");
  for (const double wrong : {5.0, double(NAN), -double(INFINITY)})
    EXPECT_NE(compared(wrong, INFINITY, relative(1e-6)), "") << wrong;
  EXPECT_NE(compared(5, NAN, 1e9), "");
  EXPECT_NE(compared(INFINITY, 5, 1e9), "");
}

TEST(Compare, WhereNothingIsAllowedTheShareOfAnErrorIsInfinite) {
  const Comparison c = compare_all(outputs(DType::f64, {1, 2}), outputs(DType::f64, {1, 2.5}), {});
  EXPECT_EQ(c.max_error, INFINITY);
  EXPECT_EQ(compare_all(outputs(DType::f64, {1}), outputs(DType::f64, {1}), {}).max_error, 0);
}

TEST(Compare, IntegersAndBoolsAreExact) {
  for (const DType t : {DType::i64, DType::i32, DType::i16, DType::i8, DType::u64, DType::u32, DType::u16,
                        DType::u8, DType::boolean}) {
    EXPECT_EQ(compare_all(outputs(t, {1}), outputs(t, {1}), 100).message, "") << to_string(t);
    EXPECT_NE(compare_all(outputs(t, {1}), outputs(t, {0}), 100).message, "") << to_string(t);
  }
  HostTensors odd = outputs(DType::boolean, {1});
  odd[2].bytes()[0] = std::byte{0xA5};
  EXPECT_NE(compare_all(odd, outputs(DType::boolean, {1}), 0).message, "") << "a bool is 0 or 1";
}

TEST(Compare, ComplexNumbersByTheirPartsAndModulus) {
  const HostTensors want = outputs(DType::c128, {1, 2, 3e-9, -4});
  EXPECT_EQ(compare_all(outputs(DType::c64, {1, 2, 3e-9, -4}), want, relative(1e-7)).message, "");
  EXPECT_EQ(compare_all(outputs(DType::c128, {1, 2, 5e-9, -4}), want, relative(1e-8)).message, "")
      << "what is allowed for the modulus";
  EXPECT_EQ(compare_all(outputs(DType::c128, {1, 2, 3e-9, -4.5}), want, absolute(0.25)).message,
            "z(1).im is -4.5, expected -4 within 0.25");
  EXPECT_NE(compare_all(outputs(DType::c128, {2, 1, 3e-9, -4}), want, absolute(0.25)).message, "");
  EXPECT_EQ(
      bit_difference(vector_add, outputs(DType::c64, {1, 2, 3, 4}), outputs(DType::c64, {1, 2.5, 3, 4})),
      "z(0).im is 2 and was 2.5");
  const HostTensors half = outputs(DType::c128, {1, INFINITY, 3, 4});
  EXPECT_EQ(compare_all(half, half, relative(1e-6)).message, "");
  for (const double wrong : {2.0, double(NAN)})
    EXPECT_EQ(
        compare_all(outputs(DType::c128, {wrong, INFINITY, 3, 4}), half, relative(1e-6)).message.substr(0, 8),
        "z(0).re ")
        << "an infinite part allows the other nothing";
  HostTensors unwritten = outputs(DType::c64, {1, 2, 3, 4});
  std::memset(&unwritten[2].bytes()[12], 0xFF, 4);
  EXPECT_EQ(compare_all(unwritten, outputs(DType::c128, {1, 2, 3, 4}), 1).message.substr(0, 22),
            "z(1).im was not writte");
}

TEST(Compare, WideningKeepsEveryNumber) {
  for (const DType t :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c128, DType::c64, DType::i8}) {
    const HostTensors narrow = outputs(t, {1, -2, 0.5, 96}), wide = widened(narrow);
    for (std::int64_t i = 0; i < 4; ++i)
      EXPECT_EQ(get(parts(wide[2].tensor), i), get(parts(narrow[2].tensor), i)) << to_string(t);
  }
}

struct FoundArgs {
  In x;
  Out found, where, count;
  static constexpr auto fields() {
    using A = FoundArgs;
    return std::array{
        field<&A::x>("x", "n", DTypes::of(DType::f64), "values"),
        field<&A::found>("found", "n 2", DTypes::of(DType::f64), "what was found").counted_by("count"),
        field<&A::where>("where", "n", DTypes::of(DType::i32), "where").counted_by("count"),
        field<&A::count>("count", "", DTypes::of(DType::i64), "how many were found"),
    };
  }
};

TEST(Compare, WhatIsBeyondACounterIsNotLookedAt) {
  static constexpr Definition<FoundArgs> op{{.name = "found"}, {}};
  const auto made = [](double beyond, double count) {
    HostTensors all(4);
    const auto add = [&](std::size_t f, DType t, std::vector<std::int64_t> shape, double value) {
      all[f] = Array(t, shape);
      for (std::int64_t i = 0; i < all[f].tensor.size(); ++i) put(all[f].tensor, i, value);
    };
    add(1, DType::f64, {3, 2}, 1), add(2, DType::i32, {3}, 1), add(3, DType::i64, {}, count);
    put(all[1].tensor, 5, beyond), put(all[2].tensor, 2, beyond);
    return all;
  };
  EXPECT_EQ(compare(op, made(7, 2), made(1, 2), {}).message, "");
  EXPECT_EQ(bit_difference(op, made(7, 2), made(1, 2)), "");
  EXPECT_EQ(compare(op, made(7, 3), made(1, 3), {}).message,
            "found(2, 1) is 7, expected 1 within 0; so are 1 more of 10 elements");
  EXPECT_EQ(bit_difference(op, made(7, 3), made(1, 3)), "found(2, 1) is 7 and was 1");
  EXPECT_NE(compare(op, made(1, 2), made(1, 3), {}).message, "") << "the count itself is compared";
}

}  // namespace
}  // namespace kolmo::check
