// The kinds of arguments: dtypes and their variables, exact integers, lists, optional numbers, shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kolmo/op/bind.hpp"
#include "kolmo/ops/nn/layer_norm/layer_norm.hpp"

namespace kolmo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct MixedArgs {
  In x, index, norm, rows, scale;
  Out y, z, wide;
  std::int64_t count = 1;
  std::uint64_t seed = 0;
  Integers stride{1, 1};
  std::optional<std::int64_t> limit;
  std::optional<double> clip = 0.5;

  static constexpr auto fields() {
    using A = MixedArgs;
    return std::array{
        field<&A::x>("x", "n d", complexes, "points"),
        field<&A::index>("index", "n-1", DTypes::of(DType::i64, DType::i32).as("I"), "steps").indexes("n"),
        field<&A::norm>("norm", "n", real_of("T"), "lengths"),
        field<&A::rows>("rows", "n ...", DTypes::of(DType::u8, DType::boolean).as("R"), "a row for each"),
        field<&A::scale>("scale", "n? d", DTypes::of(DType::f32), "for every point, or for all"),
        field<&A::y>("y", "n+1 2", complexes, "points"),
        field<&A::z>("z", "...", DTypes::of(DType::i64, DType::i32).as("I"), "batch"),
        field<&A::wide>("wide", "count", floats.as("W"), "as the operator says"),
        option<&A::count>("count", 0, 9, "how many"),
        option<&A::seed>("seed", "which sequence"),
        option<&A::stride>("stride", 1, 8, "steps"),
        option<&A::limit>("limit", 0, 100, "at most"),
        option<&A::clip>("clip", 0.0, 1.0, "bound"),
    };
  }
};
constinit const Definition<MixedArgs> mixed{
    {.name = "mixed"},
    {.sizes = [](const MixedArgs&, Dims& dims) { dims.set_dtype("W", DType::f16); }, .flops = nullptr}};

/// Returns what an error says; empty if there is none.
template <class Work>
std::string message(const Work& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

class Arguments : public testing::Test {
 protected:
  static Tensor shaped(DType t, std::initializer_list<std::int64_t> shape) {
    static std::byte memory[4096];
    return tensor(memory, t, shape);
  }
  MixedArgs args_{.x = shaped(DType::c64, {4, 3}),
                  .index = shaped(DType::i32, {3}),
                  .norm = shaped(DType::f32, {4}),
                  .rows = shaped(DType::boolean, {4, 5, 6}),
                  .scale = shaped(DType::f32, {1, 3})};
  static std::string text_of(const Tensor& t) { return shape_string(t); }
  std::string refusal() {
    try {
      infer_outputs(mixed, &args_);
    } catch (const InvalidArgument& e) {
      return e.what();
    }
    return "";
  }
};

TEST_F(Arguments, OutputsFollowShapesAndDtypeVariables) {
  infer_outputs(mixed, &args_);
  EXPECT_EQ(text_of(args_.y), "(5, 2) c64 on cpu");
  EXPECT_EQ(text_of(args_.z), "(5, 6) i32 on cpu");
  EXPECT_EQ(text_of(args_.wide), "(1) f16 on cpu");
}

TEST_F(Arguments, EveryRefusalNamesOperatorAndArgument) {
  const MixedArgs right = args_;
  const auto refused = [&](auto change) {
    args_ = right;
    change(args_);
    return refusal();
  };
  EXPECT_THAT(refused([](MixedArgs& a) { a.index = shaped(DType::i32, {4}); }),
              HasSubstr("mixed: index is (4)"));
  EXPECT_THAT(refused([](MixedArgs& a) { a.norm = shaped(DType::f64, {4}); }),
              HasSubstr("mixed: norm is f64"));
  EXPECT_THAT(refused([](MixedArgs& a) {
                a.rows = shaped(DType::u8, {3, 5});
              }),
              HasSubstr("mixed: rows is (3, 5)"));
  EXPECT_THAT(refused([](MixedArgs& a) {
                a.scale = shaped(DType::f32, {2, 3});
              }),
              HasSubstr("mixed: scale is (2, 3)"));
  EXPECT_THAT(refused([](MixedArgs& a) { a.index = shaped(DType::u8, {3}); }),
              HasSubstr("mixed: index is (3) u8"));
  EXPECT_THAT(refused([](MixedArgs& a) { a.limit = 101; }),
              HasSubstr("mixed: limit is 101, accepted are 0 to 100"));
  EXPECT_THAT(refused([](MixedArgs& a) { a.stride = {1, 9}; }), HasSubstr("mixed: stride is 1,9"));
  EXPECT_EQ(refused([](MixedArgs& a) { a.scale = shaped(DType::f32, {4, 3}); }), "");
  EXPECT_EQ(refused([](MixedArgs& a) { a.clip.reset(); }), "");
}

TEST_F(Arguments, ASizeThatNothingGivesNamesTheOperator) {
  struct LostArgs {
    Out y;
    static constexpr auto fields() {
      return std::array{field<&LostArgs::y>("y", "nowhere", reals, "result")};
    }
  };
  static constinit const Definition<LostArgs> lost{{.name = "lost"}, {}};
  LostArgs args;
  try {
    infer_outputs(lost, &args);
    ADD_FAILURE() << "not refused";
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "lost: y has the size 'nowhere', which no tensor or option gives");
  }
}

TEST_F(Arguments, CodeThatDoesNotKnowADtypeIsNamed) {
  const auto named_message = [&](const auto& work) { return message([&] { named(mixed, &args_, work); }); };
  EXPECT_EQ(named_message([&] { visit<double, float>(args_.x.dtype, []<class> {}); }),
            "mixed: x: no code for dtype c64");
  const double other = 0;
  args_.norm.data = const_cast<double*>(&other);
  EXPECT_EQ(named_message([&] { (void)args_.norm.as<double>(); }),
            "mixed: norm: a tensor holds f32 and is read as f64");
}

TEST(IntegersOf, HoldSixteenAndRefuseMore) {
  const Integers all{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  EXPECT_EQ(all.size(), 16);
  EXPECT_EQ(all[15], 16);
  EXPECT_EQ(message([] { (void)Integers{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}; }),
            "17 integers; a list has at most 16");
}

TEST_F(Arguments, IntegersStayExact) {
  const auto fields = mixed.fields();
  const FieldInfo& seed = fields[9];
  for (const char* text :
       {"9007199254740992", "9007199254740993", "9223372036854775807", "18446744073709551615"}) {
    seed.set(&args_, seed.parse(text));
    EXPECT_EQ(std::to_string(args_.seed), text);
    EXPECT_EQ(seed.text(seed.value(&args_)), text);
  }
  EXPECT_THROW((void)seed.parse("-1"), InvalidArgument);
  EXPECT_THROW((void)seed.parse("18446744073709551616"), InvalidArgument);
  EXPECT_THROW((void)seed.parse("1.5"), InvalidArgument);
}

TEST_F(Arguments, ListsAndOptionalNumbersAreText) {
  const auto fields = mixed.fields();
  const FieldInfo &stride = fields[10], &limit = fields[11];
  stride.set(&args_, stride.parse("2,3,4"));
  EXPECT_THAT(std::vector(args_.stride.begin(), args_.stride.end()), ElementsAre(2, 3, 4));
  EXPECT_EQ(stride.text(stride.value(&args_)), "2,3,4");
  EXPECT_THROW(stride.set(&args_, stride.parse("2,9")), InvalidArgument);
  EXPECT_EQ(stride.parse("").list.size(), 0);
  EXPECT_EQ(message([&] { (void)stride.parse("2,3,"); }), "stride is '2,3,', which ends with a comma");
  for (const char* text : {",", "2,,3", ",2"})
    EXPECT_THAT(message([&] { (void)stride.parse(text); }), testing::StartsWith("stride is '")) << text;
  EXPECT_EQ(limit.text(limit.value(&args_)), "none");
  limit.set(&args_, limit.parse("7"));
  EXPECT_EQ(args_.limit, 7);
  limit.set(&args_, limit.parse("none"));
  EXPECT_FALSE(args_.limit);
  EXPECT_THROW(limit.set(&args_, Value::of(0.5)), InvalidArgument) << "of another kind";
}

/// Returns the shape of output z for inputs x and y, or why there is none.
template <class Args>
std::string inferred(const OpBase& op, std::initializer_list<std::int64_t> x,
                     std::initializer_list<std::int64_t> y) {
  static double memory[1024];
  Args args{.x = tensor(memory, DType::f64, x), .y = tensor(memory, DType::f64, y)};
  try {
    infer_outputs(op, &args);
    return shape_string(args.z);
  } catch (const InvalidArgument& e) {
    return e.what();
  }
}

TEST(Broadcasting, FollowsNumPy) {
  struct PairArgs {
    In x, y;
    Out z;
    static constexpr auto fields() {
      return std::array{field<&PairArgs::x>("x", "...?", reals, "left"),
                        field<&PairArgs::y>("y", "...?", reals, "right"),
                        field<&PairArgs::z>("z", "...", reals, "both")};
    }
  };
  static constinit const Definition<PairArgs> pair{{.name = "pair"}, {}};
  EXPECT_EQ(inferred<PairArgs>(pair, {3, 1}, {4}), "(3, 4) f64 on cpu");
  EXPECT_EQ(inferred<PairArgs>(pair, {}, {2, 3}), "(2, 3) f64 on cpu");
  EXPECT_EQ(inferred<PairArgs>(pair, {1, 5}, {5}), "(1, 5) f64 on cpu");
  EXPECT_EQ(inferred<PairArgs>(pair, {0}, {1}), "(0) f64 on cpu");
  EXPECT_EQ(inferred<PairArgs>(pair, {2}, {3}),
            "pair: y is (3) f64 on cpu, which does not broadcast with the other tensors");
}

struct JointArgs {
  In x, y;
  Out z;
  static constexpr auto fields() {
    return std::array{field<&JointArgs::x>("x", "...?", reals, "broadcast"),
                      field<&JointArgs::y>("y", "... k", reals, "rows"),
                      field<&JointArgs::z>("z", "... k-1", reals, "differences")};
  }
};
constinit const Definition<JointArgs> joint{{.name = "joint"}, {}};

TEST(Broadcasting, IsToDimensionsThatOthersFixWhateverTheOrder) {
  EXPECT_EQ(inferred<JointArgs>(joint, {1}, {5, 3}), "(5, 2) f64 on cpu");
  EXPECT_EQ(inferred<JointArgs>(joint, {}, {5, 3}), "(5, 2) f64 on cpu");
  EXPECT_EQ(inferred<JointArgs>(joint, {7, 5}, {5, 3}),
            "joint: x is (7, 5) f64 on cpu, which does not broadcast with the other tensors");
}

TEST(Shapes, AreNeverNegative) {
  EXPECT_EQ(inferred<JointArgs>(joint, {}, {5, 0}), "joint: z would have the extent -1: k = 0");
  EXPECT_EQ(inferred<JointArgs>(joint, {}, {-5, 3}),
            "joint: y is (-5, 3) f64 on cpu, which has a negative extent");
}

TEST(DTypeVariables, AreSharedByOutputsThatNoInputGives) {
  struct TwoArgs {
    In index, x;
    Out y, z;
    static constexpr auto fields() {
      constexpr DTypes integers = DTypes::of(DType::i64, DType::i32);
      return std::array{field<&TwoArgs::index>("index", "n", integers.as("I"), "which"),
                        field<&TwoArgs::x>("x", "n", reals, "values"),
                        field<&TwoArgs::y>("y", "n", floats.as("F"), "made"),
                        field<&TwoArgs::z>("z", "n", floats.as("F"), "made")};
    }
  };
  static constinit const Definition<TwoArgs> two{{.name = "two"}, {}};
  static double memory[8];
  TwoArgs args{.index = tensor(memory, DType::i32, std::array{2}),
               .x = tensor(memory, DType::f32, std::array{2})};
  args.y.dtype = DType::f16, args.z.dtype = DType::f64;
  infer_outputs(two, &args);
  EXPECT_EQ(args.y.dtype, DType::f16);
  EXPECT_EQ(args.z.dtype, DType::f16);
  EXPECT_EQ(common_dtype(two, &args), DType::f32) << "that of T, not of the first variable";
}

TEST(CallableAlias, BindsItsOptionWhateverIsGiven) {
  float x[] = {-1, 0, 2, 5}, bound[4], asked[4];
  Stream stream;
  fused_layernorm_gelu({.x = tensor(x, {4}), .y = tensor(bound, {4}), .activation = Activation::relu},
                       stream);
  layer_norm({.x = tensor(x, {4}), .y = tensor(asked, {4}), .activation = Activation::gelu}, stream);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bound[i], asked[i]);
  EXPECT_EQ(fused_layernorm_gelu.info().name, "fused_layernorm_gelu");
}

}  // namespace
}  // namespace kolmo
