#include "kolmo/op/counted.hpp"

#include <gtest/gtest.h>

namespace kolmo {
namespace {

/// An operator whose output has an unknown length: it finds the values above 0.
struct PositivesArgs {
  In x;
  Out found, count;
  std::int64_t room = 3;

  static constexpr auto fields() {
    using A = PositivesArgs;
    return std::array{
        field<&A::x>("x", "n", DTypes::of(DType::f64), "values"),
        field<&A::found>("found", "room", DTypes::of(DType::f64), "those above 0").counted_by("count"),
        field<&A::count>("count", "", DTypes::of(DType::i64), "how many there are"),
        option<&A::room>("room", 0, 100, "how many can be kept"),
    };
  }
};
constinit const Definition<PositivesArgs> positives{{.name = "positives"}, {}};

TEST(Counted, OutputsEndWhereTheyWereNotWritten) {
  double found[] = {1, 2, -7};
  std::int64_t count = 2, lost = -1;
  const PositivesArgs args{.found = tensor(found, {3}), .count = tensor(&count, {})};
  const FieldInfo& field = positives.fields()[1];
  EXPECT_EQ(shape_string(counted_part(positives, field, &args, lost)), "(2) f64 on cpu");
  EXPECT_EQ(lost, 0);
  count = 5;
  EXPECT_EQ(counted_part(positives, field, &args, lost).dim(0), 3);
  EXPECT_EQ(lost, 2) << "counted, and not kept";
  count = 0;
  EXPECT_EQ(counted_part(positives, field, &args, lost).size(), 0);
}

TEST(Counted, OtherOutputsStayAsTheyAre) {
  std::int64_t count = 2, lost = -1;
  const PositivesArgs args{.count = tensor(&count, {})};
  EXPECT_EQ(counted_part(positives, positives.fields()[2], &args, lost).data, &count);
  EXPECT_EQ(lost, 0);
}

}  // namespace
}  // namespace kolmo
