#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/op/bind.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"

namespace kolmo {
namespace {

enum class Mode : std::int32_t { plain, fancy };
constexpr std::string_view mode_names[] = {"plain", "fancy"};
constexpr std::span<const std::string_view> names_of(Mode) { return mode_names; }

/// An operator with every kind of argument.
struct FrameArgs {
  In x;
  OptIn weight;
  Out y, copies, pair;
  OptOut extra;
  std::int64_t repeat = 2;
  double factor = 1;
  bool flip = false;
  Mode mode = Mode::plain;

  static constexpr auto fields() {
    using A = FrameArgs;
    return std::array{
        field<&A::x>("x", "... k", reals, "input"),
        field<&A::weight>("weight", "k", reals, "weights"),
        field<&A::y>("y", "... k", reals, "result"),
        field<&A::copies>("copies", "repeat k", reals, "copies"),
        field<&A::pair>("pair", "2 half", DTypes::of(DType::i32), "a size of its own"),
        field<&A::extra>("extra", "k", DTypes::of(DType::f64), "more"),
        option<&A::repeat>("repeat", 1, 4, "copies"),
        option<&A::factor>("factor", -1.0, 10.0, "factor"),
        option<&A::flip>("flip", "flip"),
        option<&A::mode>("mode", "mode"),
    };
  }
};

int calls = 0;

constinit const Definition<FrameArgs> frame_op{
    {.name = "frame_op", .summary = "for tests", .source = "none"},
    {.check = [](const FrameArgs& a) { require(a.repeat != 3, "repeat must not be 3"); },
     .sizes = [](const FrameArgs& a, Dims& dims) { dims.set("half", a.x.size() / 2); },
     .flops = [](const FrameArgs& a) { return 3.0 * double(a.x.size()); }}};
constinit const Impl<FrameArgs> frame_cpu{{.launch = [](const FrameArgs&, Arena, Stream&, int) { ++calls; }}};
const OpEntry frame_entry{"test", &frame_op, {&frame_cpu}};
void run_frame(const FrameArgs& args, Stream& stream) { run(frame_entry, &args, stream); }

class Frame : public testing::Test {
 protected:
  Frame() { infer_outputs(frame_op, give(args_)); }

  /// Gives all tensors memory, whatever their shape.
  FrameArgs* give(FrameArgs& a) {
    a.x = tensor(x_, {2, 4});
    a.y.data = y_, a.copies.data = copies_, a.pair.data = pair_;
    return &a;
  }
  void expect_refused(const std::string& message) {
    calls = 0;
    try {
      run_frame(args_, stream_);
      ADD_FAILURE() << "not refused; expected: " << message;
    } catch (const InvalidArgument& e) {
      EXPECT_EQ(std::string(e.what()), message);
    }
    EXPECT_EQ(calls, 0) << "it ran all the same";
  }

  double x_[8] = {}, weight_[4] = {}, y_[8] = {}, copies_[16] = {}, extra_[4] = {};
  std::int32_t pair_[8] = {};
  FrameArgs args_;
  Stream stream_{Device{}};
};

TEST_F(Frame, RunsWhatIsRight) {
  args_.extra = Tensor{};
  calls = 0;
  run_frame(args_, stream_);
  args_.weight = tensor(weight_, {4});
  run_frame(args_, stream_);
  EXPECT_EQ(calls, 2);
}

TEST_F(Frame, InfersOutputsFromInputsOptionsLiteralsAndSizes) {
  EXPECT_EQ(shape_string(args_.y), "(2, 4) f64 on cpu");
  EXPECT_EQ(shape_string(args_.copies), "(2, 4) f64 on cpu");
  EXPECT_EQ(shape_string(args_.pair), "(2, 4) i32 on cpu");
  EXPECT_EQ(shape_string(args_.extra), "(4) f64 on cpu");
  EXPECT_EQ(args_.y.data, y_) << "the memory stays";
  float narrow[12] = {};
  args_.x = tensor(narrow, {3, 2, 2}), args_.repeat = 4;
  infer_outputs(frame_op, &args_);
  EXPECT_EQ(shape_string(args_.y), "(3, 2, 2) f32 on cpu");
  EXPECT_EQ(shape_string(args_.copies), "(4, 2) f32 on cpu");
  EXPECT_EQ(shape_string(args_.pair), "(2, 6) i32 on cpu");
  EXPECT_EQ(shape_string(args_.extra), "(2) f64 on cpu") << "its only dtype, not the common one";
}

TEST_F(Frame, NamesWhatIsWrongWithAnInput) {
  args_.extra = Tensor{};
  const FrameArgs right = args_;
  args_.x = Tensor{};
  expect_refused("frame_op: x is missing, expected (..., k) of f64 f32");
  std::int64_t whole[8] = {};
  args_ = right, args_.x = tensor(whole, {2, 4});
  expect_refused("frame_op: x is (2, 4) i64 on cpu, expected (..., k) of f64 f32");
  args_ = right, args_.x = tensor(x_, {});
  expect_refused("frame_op: x is () f64 on cpu, expected (..., k) of f64 f32");
  args_ = right, args_.x.stride = {1, 2};
  expect_refused("frame_op: x is not contiguous in row-major order");
  args_ = right, args_.x.device = {DeviceKind::cuda, 1};
  expect_refused("frame_op: x is on cuda:1, the stream on cpu");
  args_ = right, args_.x.data = nullptr;
  expect_refused("frame_op: x has no memory");
  args_ = right, args_.weight = tensor(weight_, {3});
  expect_refused("frame_op: weight is (3) f64 on cpu, but k = 4");
  args_ = right, args_.weight = tensor(weight_, {2, 2});
  expect_refused("frame_op: weight is (2, 2) f64 on cpu, expected (k) of f64 f32");
  float narrow[4] = {};
  args_ = right, args_.weight = tensor(narrow, {4});
  expect_refused("frame_op: weight is f32, but the tensors before it are f64");
}

TEST_F(Frame, NamesWhatIsWrongWithAnOutput) {
  args_.extra = Tensor{};
  const FrameArgs right = args_;
  args_.y = Tensor{};
  expect_refused("frame_op: y is nothing, expected contiguous (2, 4) f64 on cpu");
  args_ = right, args_.y = tensor(y_, {4, 2});
  expect_refused("frame_op: y is (4, 2) f64 on cpu, expected contiguous (2, 4) f64 on cpu");
  args_ = right, args_.y.device = {DeviceKind::simt, 0};
  expect_refused("frame_op: y is (2, 4) f64 on simt, expected contiguous (2, 4) f64 on cpu");
  args_ = right, args_.extra = tensor(extra_, {3});
  expect_refused("frame_op: extra is (3) f64 on cpu, expected contiguous (4) f64 on cpu");
  args_ = right, args_.repeat = 1;
  expect_refused("frame_op: copies is (2, 4) f64 on cpu, expected contiguous (1, 4) f64 on cpu");
}

TEST_F(Frame, RefusesOptionsOutOfRange) {
  args_.extra = Tensor{};
  const FrameArgs right = args_;
  args_.repeat = 0;
  expect_refused("frame_op: repeat is 0, accepted are 1 to 4");
  args_.repeat = 5;
  expect_refused("frame_op: repeat is 5, accepted are 1 to 4");
  args_ = right, args_.factor = 10.5;
  expect_refused("frame_op: factor is 10.5, accepted are -1 to 10");
  args_.factor = NAN;
  expect_refused("frame_op: factor is nan, accepted are -1 to 10");
  args_ = right, args_.mode = Mode(2);
  expect_refused("frame_op: mode is 2, accepted are plain, fancy");
  args_ = right, args_.repeat = 3;
  expect_refused("frame_op: repeat must not be 3");
}

TEST_F(Frame, RefusesOverlappingMemory) {
  args_.extra = Tensor{};
  args_.y.data = x_ + 4;
  expect_refused("frame_op: y overlaps x in memory");
  args_.y.data = x_;
  expect_refused("frame_op: y overlaps x in memory");
  args_.y.data = copies_ + 7;
  expect_refused("frame_op: y overlaps copies in memory");
}

TEST_F(Frame, OperatorsThatClaimItWorkInPlaceButNotHalfway) {
  double x[3] = {1, 2, 3}, y[3] = {10, 20, 30};
  vector_add({.x = tensor(x, {2}), .y = tensor(y, {2}), .z = tensor(y, {2})}, stream_);
  EXPECT_EQ(y[1], 22);
  EXPECT_THROW(vector_add({.x = tensor(x, {2}), .y = tensor(y, {2}), .z = tensor(x + 1, {2})}, stream_),
               InvalidArgument);
}

/// An operator with two tensors that are modified, one that is read and one that is written.
struct ChangeArgs {
  In x;
  InOut state, more;
  Out y;
  static constexpr auto fields() {
    using A = ChangeArgs;
    constexpr DTypes f64 = DTypes::of(DType::f64);
    return std::array{field<&A::x>("x", "n", f64, "input"), field<&A::state>("state", "n", f64, "changed"),
                      field<&A::more>("more", "n", f64, "changed"), field<&A::y>("y", "n", f64, "result")};
  }
};

TEST(InOut, OverlapsNothing) {
  static constexpr Definition<ChangeArgs> change{{.name = "change", .in_place = true},
                                                 {.flops = [](const ChangeArgs&) { return 0.0; }}};
  static constexpr Impl<ChangeArgs> cpu{{.launch = [](const ChangeArgs&, Arena, Stream&, int) { ++calls; }}};
  const OpEntry entry{"test", &change, {&cpu}};
  Stream stream{Device{}};
  double memory[16] = {};
  const auto refusal = [&](int x, int state, int more, int y) {
    const auto at = [&](int i) { return tensor(memory + i, {3}); };
    const ChangeArgs args{.x = at(x), .state = at(state), .more = at(more), .y = at(y)};
    calls = 0;
    try {
      run(entry, &args, stream);
    } catch (const InvalidArgument& e) {
      EXPECT_EQ(calls, 0) << "it ran all the same";
      return std::string(e.what());
    }
    EXPECT_EQ(calls, 1);
    return std::string();
  };
  EXPECT_EQ(refusal(0, 3, 6, 9), "");
  EXPECT_EQ(refusal(0, 3, 6, 0), "") << "only an output may be an input";
  EXPECT_EQ(refusal(0, 3, 3, 9), "change: state overlaps more in memory");
  EXPECT_EQ(refusal(0, 3, 5, 9), "change: state overlaps more in memory");
  EXPECT_EQ(refusal(0, 0, 6, 9), "change: state overlaps x in memory");
  EXPECT_EQ(refusal(0, 3, 2, 9), "change: state overlaps more in memory");
  EXPECT_EQ(refusal(0, 3, 6, 6), "change: more overlaps y in memory");
  EXPECT_EQ(refusal(0, 3, 6, 4), "change: state overlaps y in memory");
  EXPECT_EQ(refusal(0, 6, 2, 9), "change: more overlaps x in memory");
}

TEST_F(Frame, DoesNothingWhereThereIsNothingToWrite) {
  double none[1];
  calls = 0;
  args_ = FrameArgs{};
  args_.x = tensor(none, {3, 0});
  infer_outputs(frame_op, &args_);
  run_frame(args_, stream_);
  EXPECT_EQ(calls, 0);
}

TEST_F(Frame, CostCountsTheBytesOfGivenFields) {
  args_.extra = Tensor{};
  const Cost c = cost(frame_op, &args_);
  EXPECT_EQ(c.flops, 24);
  EXPECT_EQ(c.bytes_read, 64);
  EXPECT_EQ(c.bytes_written, 64 + 64 + 32);
}

TEST_F(Frame, WithoutAnImplementationADeviceIsUnsupported) {
  if (!available({DeviceKind::simt, 0})) GTEST_SKIP() << "this build has no emulated GPU";
  Stream simt({DeviceKind::simt, 0});
  args_.extra = Tensor{};
  for (Tensor* t : {static_cast<Tensor*>(&args_.x), static_cast<Tensor*>(&args_.y),
                    static_cast<Tensor*>(&args_.copies), static_cast<Tensor*>(&args_.pair)})
    t->device = simt.device();
  EXPECT_THROW(run_frame(args_, simt), Unsupported);
}

TEST_F(Frame, CaptureCopiesTheArguments) {
  args_.extra = Tensor{};
  calls = 0;
  Graph graph = capture(stream_, [&] {
    FrameArgs passing = args_;
    run_frame(passing, stream_);
  });
  EXPECT_EQ(calls, 0);
  graph.launch(stream_), graph.launch(stream_);
  EXPECT_EQ(calls, 2);
}

TEST(Fields, AreOpenToInspection) {
  const auto fields = frame_op.fields();
  ASSERT_EQ(fields.size(), 10u);
  FrameArgs a;
  EXPECT_TRUE(fields[0].is_tensor() && fields[0].is_input() && !fields[0].is_output() && !fields[0].optional);
  EXPECT_TRUE(fields[1].optional);
  EXPECT_TRUE(fields[5].is_output() && fields[5].optional);
  EXPECT_EQ(&fields[0].tensor(static_cast<void*>(&a)), &a.x);
  EXPECT_EQ(fields[6].value(&a), Value::of(std::int64_t{2}));
  fields[6].set(&a, Value::of(std::int64_t{4})), fields[7].set(&a, Value::of(2.5));
  fields[8].set(&a, Value::of(ValueKind::flag, 1)), fields[9].set(&a, Value::of(ValueKind::choice, 1));
  EXPECT_EQ(a.repeat, 4);
  EXPECT_EQ(a.factor, 2.5);
  EXPECT_TRUE(a.flip);
  EXPECT_EQ(a.mode, Mode::fancy);
  EXPECT_EQ(fields[9].choices[1], "fancy");
  EXPECT_EQ(fields[9].value(frame_op.default_args({}).data()).integer, 0);
}

struct PairArgs {
  In points;
  Out norms;
  static constexpr auto fields() {
    return std::array{field<&PairArgs::points>("points", "n 2", reals, "points of the plane"),
                      field<&PairArgs::norms>("norms", "n", reals, "their norms")};
  }
};
constinit const Definition<PairArgs> pair_op{{.name = "pair_op", .summary = "for tests", .source = "none"},
                                             {.flops = [](const PairArgs&) { return 0.0; }}};

TEST(Shapes, LiteralSizesMustBeMet) {
  double memory[12] = {};
  PairArgs right{.points = tensor(memory, {5, 2}), .norms = {}};
  infer_outputs(pair_op, &right);
  EXPECT_EQ(right.norms.extent[0], 5);
  PairArgs wrong{.points = tensor(memory, {4, 3}), .norms = {}};
  try {
    infer_outputs(pair_op, &wrong);
    FAIL() << "accepted";
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "pair_op: points is (4, 3) f64 on cpu, expected (n, 2) of f64 f32");
  }
}

TEST(Shapes, AreSplitAtSpaces) {
  EXPECT_EQ(words("a b  c"), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_TRUE(words("").empty());
  EXPECT_EQ(words("..."), (std::vector<std::string_view>{"..."}));
}

TEST(DimsOf, UnknownNamesAreRefused) {
  Dims dims;
  dims.set("n", 3);
  EXPECT_EQ(dims["n"], 3);
  EXPECT_FALSE(dims.has("m"));
  EXPECT_THROW(dims["m"], InvalidArgument);
}

TEST(Registry, FindsOperatorsAndNamesNearMisses) {
  EXPECT_EQ(find_op("vector_add").op, &static_cast<const OpBase&>(vector_add));
  EXPECT_EQ(find_op("vector_add").group, "elementwise");
  EXPECT_EQ(entry_of(vector_add).op, find_op("vector_add").op);
  EXPECT_THROW(entry_of(frame_op), Unsupported);
  const auto refusal = [](const char* name) {
    try {
      find_op(name);
    } catch (const InvalidArgument& e) {
      return std::string(e.what());
    }
    return std::string("found");
  };
  EXPECT_EQ(refusal("vector"), "no operator is called 'vector'; did you mean vector_add");
  EXPECT_EQ(refusal("sofmax"), "no operator is called 'sofmax'; did you mean softmax");
  EXPECT_EQ(refusal("vectr_add"), "no operator is called 'vectr_add'; did you mean vector_add");
  EXPECT_EQ(refusal("xyzzy"), "no operator is called 'xyzzy'");
}

}  // namespace
}  // namespace kolmo
