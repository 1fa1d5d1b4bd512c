#include "kolmo/base/tensor.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kolmo {
namespace {

TEST(Tensor, ByDefaultIsNotGiven) {
  const Tensor t;
  EXPECT_FALSE(t.given());
  EXPECT_EQ(t.size(), 0);
  EXPECT_EQ(t.bytes(), 0u);
  EXPECT_EQ(shape_string(t), "nothing");
}

TEST(Tensor, IsRowMajor) {
  double data[24] = {};
  const Tensor t = tensor(data, {2, 3, 4});
  EXPECT_EQ(t.size(), 24);
  EXPECT_EQ(t.bytes(), 192u);
  EXPECT_EQ(t.stride[0], 12);
  EXPECT_EQ(t.stride[1], 4);
  EXPECT_EQ(t.stride[2], 1);
  EXPECT_TRUE(t.contiguous());
  EXPECT_EQ(shape_string(t), "(2, 3, 4) f64 on cpu");
}

TEST(Tensor, OfRankZeroIsOneElement) {
  float value = 3;
  const Tensor t = tensor(&value, {});
  EXPECT_TRUE(t.given());
  EXPECT_EQ(t.size(), 1);
  EXPECT_TRUE(t.contiguous());
  EXPECT_EQ(shape_string(t), "() f32 on cpu");
}

TEST(Tensor, KnowsWhetherItIsContiguous) {
  double data[24] = {};
  Tensor t = tensor(data, {2, 3});
  t.stride = {4, 1};
  EXPECT_FALSE(t.contiguous()) << "rows with a gap";
  t.stride = {1, 2};
  EXPECT_FALSE(t.contiguous()) << "column-major";
  t = tensor(data, {1, 3});
  t.stride[0] = 99;
  EXPECT_TRUE(t.contiguous()) << "the stride of a single row does not matter";
  t = tensor(data, {0, 3});
  t.stride = {99, 99};
  EXPECT_TRUE(t.contiguous()) << "an empty tensor has no elements to be apart";
}

TEST(Tensor, RefusesWrongTypesAndTooManyDimensions) {
  double data[4] = {};
  const Tensor t = tensor(data, {4});
  EXPECT_THROW(t.as<float>(), InvalidArgument);
  EXPECT_THROW(tensor(data, DType::f64, std::vector<int>(7, 1)), InvalidArgument);
  EXPECT_EQ(tensor(data, DType::f64, std::vector<int>(6, 1)).rank, max_rank);
}

TEST(Tensor, VisitsTheDtypeItHas) {
  int visits = 0;
  for (const DType t : all_dtypes)
    visit<double, float, Half, BFloat16, Complex<double>, Complex<float>, std::int64_t, std::int32_t,
          std::int16_t, std::int8_t, std::uint64_t, std::uint32_t, std::uint16_t, std::uint8_t, bool>(
        t, [&]<class T> {
          EXPECT_EQ(dtype_of<T>, t);
          EXPECT_EQ(sizeof(T), size_of(t));
          ++visits;
        });
  EXPECT_EQ(visits, int(std::size(all_dtypes)));
  EXPECT_THROW((visit<double, float>(DType::u8, []<class> {})), Unsupported);
}

TEST(DTypes, AreSets) {
  EXPECT_TRUE(reals.has(DType::f64) && reals.has(DType::f32));
  EXPECT_FALSE(reals.has(DType::f16) || reals.single());
  EXPECT_TRUE(DTypes::of(DType::i32).single());
  EXPECT_EQ(DTypes::of(DType::i32).first(), DType::i32);
}

TEST(Error, KnowsWhereItWasRaised) {
  try {
    fail<Unsupported>("nothing works");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "nothing works");
    EXPECT_NE(std::string(e.where().file_name()).find("tensor_test.cpp"), std::string::npos);
  }
  EXPECT_THROW(require(false, "no"), InvalidArgument);
  EXPECT_NO_THROW(require(true, "yes"));
}

}  // namespace
}  // namespace kolmo
